// What AVA's report says of a mistake. Pure.

/** `no test ended`: none was found, or none could be loaded, which is no kill; or all of them were skipped. */
export type Verdict = 'killed' | 'survived' | 'no test ended';

/** By the counts that follow its last rule. */
export function verdictOf(report: string): Verdict {
	const counts = report.slice(report.lastIndexOf('\n  ─\n'));
	const count = (words: string): number => Number(new RegExp(`^ {2}(\\d+) (?:${words})`, 'm').exec(counts)?.[1] ?? 0);
	const passed = count('tests? passed');
	if (count('tests? failed') + count('tests? remained pending') > 0) return 'killed';
	if (passed > 0 && count('uncaught exceptions?|unhandled rejections?') > 0) return 'killed';
	return passed > 0 ? 'survived' : 'no test ended';
}

/** The first test that failed, or that still waited at the end, as AVA words it; undefined where the process ended by itself. */
export const killerIn = (report: string): string | undefined => /^ {2}(?:✘ \[fail\]:|◌) (.+)$/m.exec(report)?.[1];
