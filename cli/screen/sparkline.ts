// A row of figures as a line of small bars. Pure.

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/** Of terminals that show no more than ASCII. */
const plainBars = ['_', '.', ':', '-', '=', '+', '*', '#'];

/** One character a figure, the largest as high as can be; a blank where there is none. Nothing where there is none at all. */
export function sparkline(figures: readonly (number | null)[], unicode = true): string {
	const known = figures.filter(figure => figure !== null);
	if (known.length === 0) return '';
	const most = Math.max(...known);
	const glyphs = unicode ? bars : plainBars;
	const barOf = (figure: number): string =>
		glyphs[figure <= 0 || most <= 0 ? 0 : Math.min(glyphs.length - 1, Math.ceil((figure / most) * glyphs.length) - 1)] ?? '';
	return figures.map(figure => (figure === null ? ' ' : barOf(figure))).join('');
}
