// Names made for objects that only say how theirs shall begin.

/** No vowels and nothing that looks like something else, as in Kubernetes: no words by accident. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestName = 63;

/** The prefix, cut if need be, and five random characters; `random` gives numbers from 0 up to 1. */
export function generateName(prefix: string, random: () => number): string {
	let name = prefix.slice(0, longestName - suffixLength);
	for (let i = 0; i < suffixLength; i++) name += alphabet[Math.floor(random() * alphabet.length)] ?? 'b';
	return name;
}
