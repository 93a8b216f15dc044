// Chance, as the interpreter hands it to behaviours: the real one, and a seeded one for the virtual world.

/** Pure randomness of the interpreter: the virtual world seeds it. */
export type Random = {
	/** From 0 up to 1, 1 excluded. */
	readonly next: () => number;
	/** A version 4 UUID. */
	readonly uuid: () => string;
};

export const systemRandom: Random = {next: () => Math.random(), uuid: () => crypto.randomUUID()};

/** A reproducible source: mulberry32 (Tommy Ettinger, public domain). */
export function seededRandom(seed: number): Random {
	let state = seed >>> 0;
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
	};
	return {next, uuid: () => uuidOf(next)};
}

function uuidOf(next: () => number): string {
	const digit = (index: number): string => {
		if (index === 12) return '4';
		const value = Math.floor(next() * 16);
		return (index === 16 ? (value & 3) | 8 : value).toString(16);
	};
	const hex = Array.from({length: 32}, (_, index) => digit(index)).join('');
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
