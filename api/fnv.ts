// Short names made of long texts: for what must be called the same whenever it is made again. Not for secrets: whoever wants can find two texts
// of one hash.

/** FNV-1a, 32 bits (draft-eastlake-fnv). */
export function fnv1a(text: string): number {
	let value = 0x811c9dc5;
	for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
	return value >>> 0;
}
