import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** A row that is moved is laid out anew at its new place and would lose the keyboard there. */
export function useKeptFocus(row: { readonly current: HTMLElement | null }, at: number): void {
  const focused = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const element = focused.current;
    if (element !== null && document.activeElement === document.body) element.focus();
  }, [at]);
  useEffect(() => {
    const element = row.current;
    if (element === null) return undefined;
    const keep = (event: FocusEvent): void => {
      focused.current = event.target instanceof HTMLElement ? event.target : null;
    };
    const drop = (event: FocusEvent): void => {
      if (event.relatedTarget !== null) focused.current = null;
    };
    element.addEventListener('focusin', keep);
    element.addEventListener('focusout', drop);
    return () => {
      element.removeEventListener('focusin', keep);
      element.removeEventListener('focusout', drop);
    };
  }, []);
}
