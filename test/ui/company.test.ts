import { describe, expect, test } from 'vitest';
import { IDLE, RUNNING, reset } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();
const OTHERS = 'Also open in 2 other windows';

describe('a session that others follow too', () => {
  test('says so in the header, and nothing else changes', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: IDLE }));
      expect(await page.locator('.company').count()).toBe(0);
      await tell({ type: 'status', status: { ...IDLE, company: { others: OTHERS } } });
      expect(await page.locator('.header .company').textContent()).toContain(OTHERS);
      expect(await page.locator('.reading').count()).toBe(0);
      await page.setViewportSize({ width: 220, height: 700 });
      const width = await page.locator('body').evaluate((body) => body.scrollWidth);
      expect(width).toBeLessThanOrEqual(220);
    }));

  test('can only be read where another window has control, until control is taken', () =>
    inChat(async ({ tell, page, said }) => {
      const reading = 'Reading only: another window has control.';
      const status = { ...RUNNING, company: { others: OTHERS, reading } };
      await tell(reset({ status }));
      expect(await page.locator('.reading').textContent()).toContain(reading);
      expect(await page.locator('.stop').count()).toBe(0);
      const box = page.getByRole('textbox', { name: 'Message' });
      expect(await box.getAttribute('placeholder')).toContain('Take control');
      await box.fill('not for me');
      await box.press('Enter');
      expect(await said('send')).toEqual([]);
      expect(await box.inputValue()).toBe('not for me');
      await page.getByRole('button', { name: 'Take Control' }).click();
      expect(await said('command')).toMatchObject([{ name: 'take_control' }]);
      await tell({ type: 'status', status: { ...RUNNING, company: { others: OTHERS } } });
      expect(await page.locator('.reading').count()).toBe(0);
      expect(await page.locator('.stop').count()).toBe(1);
      await box.press('Enter');
      expect(await said('send')).toHaveLength(1);
    }));
});
