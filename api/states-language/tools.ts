// What the evaluation of a definition is handed from outside: it has no chance and no cryptography of its own.

export const hashAlgorithms = ['MD5', 'SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'] as const;

export type HashAlgorithm = (typeof hashAlgorithms)[number];

export type Tools = {
	/** From 0 up to 1, 1 excluded. */
	readonly random: () => number;
	/** The same, by a seed: one seed, one number. */
	readonly seeded: (seed: number) => number;
	/** A version 4 UUID. */
	readonly uuid: () => string;
	/** Of a text in UTF-8, in hexadecimal digits of lower case. */
	readonly hash: (algorithm: HashAlgorithm, text: string) => string;
};
