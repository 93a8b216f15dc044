// A mistake that is planted in the source to see that a test fails with it: a mistake that no test notices may be made any day.

export type Mistake = {
	/** In one line. */
	readonly what: string;
	/** A source, from the root of the project. */
	readonly file: string;
	/** What is replaced; it is there exactly once. */
	readonly text: string;
	readonly becomes: string;
	/** The test file that has to fail, and of a slow one the title of the test that does. */
	readonly test: string;
	readonly title?: string;
};

/** The source with the mistake in it. Throws an Error where that cannot be: the source has gone on, and the entry has to follow. */
export function withMistake(source: string, {what, file, text, becomes}: Mistake): string {
	const found = source.split(text).length - 1;
	if (found !== 1) throw new Error(`"${what}": its text is ${found} times in ${file}, and must be there once`);
	if (becomes === text) throw new Error(`"${what}" changes nothing`);
	return source.replace(text, () => becomes);
}
