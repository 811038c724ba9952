/** How to brew one tea. */
export interface Tea {
  readonly name: string;
  /** Degrees Celsius. */
  readonly temperature: number;
  readonly seconds: number;
}

export const teas: readonly Tea[] = [
  { name: 'green', temperature: 75, seconds: 120 },
  { name: 'black', temperature: 95, seconds: 240 },
  { name: 'white', temperature: 80, seconds: 180 },
];

/** The tea with that name, whatever its case. */
export function findTea(name: string): Tea | undefined {
  return teas.find((tea) => tea.name === name.toLowerCase());
}
