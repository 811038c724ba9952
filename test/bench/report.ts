/** One line of the table. */
export type Figure = {
  readonly name: string;
  readonly ours: number;
  readonly unit: 'ms' | 'MB' | '/s';
  /** What the bare thing costs in the same run; null where the figure stands alone. */
  readonly baseline: { readonly name: string; readonly value: number } | null;
  /** What it should be; null where the figure only informs. */
  readonly aim: Aim | null;
};

/** A limit on the figure itself, or on how many times the baseline it costs. */
export type Aim =
  | { readonly kind: 'below'; readonly limit: number }
  | { readonly kind: 'added'; readonly limit: number }
  | { readonly kind: 'ratio'; readonly limit: number };

/** How many times the baseline's cost: below 1 is cheaper. For rates, less a second costs more. */
export function ratioOf(figure: Figure): number | null {
  if (figure.baseline === null) return null;
  const { value } = figure.baseline;
  return figure.unit === '/s' ? value / figure.ours : figure.ours / value;
}

/** Whether the aim is met; null without one. */
export function isMet(figure: Figure): boolean | null {
  const { aim, ours, baseline } = figure;
  if (aim === null) return null;
  switch (aim.kind) {
    case 'below':
      return ours < aim.limit;
    case 'added':
      return ours - (baseline?.value ?? 0) < aim.limit;
    case 'ratio':
      return (ratioOf(figure) ?? Number.POSITIVE_INFINITY) <= aim.limit;
  }
}

const HEAD = ['figure', 'ours', 'baseline', '', 'ratio', 'aim', ''] as const;

/** The figures as aligned columns. */
export function table(figures: readonly Figure[]): string {
  const rows = [HEAD, ...figures.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 || column === 3
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

function cells(figure: Figure): readonly string[] {
  const { name, ours, unit, baseline, aim } = figure;
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  return [
    name,
    `${short(ours)} ${unit}`,
    baseline === null ? '' : `${short(baseline.value)} ${unit}`,
    baseline?.name ?? '',
    ratio === null ? '' : `${ratio.toFixed(2)}x`,
    aim === null ? '' : aimText(aim, unit),
    met === null ? '' : met ? 'ok' : 'MISS',
  ];
}

function aimText(aim: Aim, unit: string): string {
  switch (aim.kind) {
    case 'below':
      return `< ${aim.limit} ${unit}`;
    case 'added':
      return `< ${aim.limit} ${unit} added`;
    case 'ratio':
      return `<= ${aim.limit}x`;
  }
}

function short(value: number): string {
  if (value >= 1000) return value.toFixed(0);
  return value >= 100 ? value.toFixed(1) : value.toFixed(2);
}
