// Amounts of bytes, as people read them.

/** `12 kB`, `3.4 MB`. */
export const amount = (bytes: number): string =>
	bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(bytes < 100_000_000 ? 1 : 0)} MB`;
