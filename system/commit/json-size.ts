// A cheap look at how long JSON would be, so that small objects need not be serialised to know that they are small.

/** Whether the JSON of a value has at most so many UTF-16 units, escapes not counted. Stops looking as soon as it has more. */
export const fitsUnits = (value: unknown, units: number): boolean => unitsLeft(value, units) >= 0;

/** UTF-8 and escapes together make at most so many bytes of one unit: a control character becomes \u0000. */
export const bytesPerUnit = 6;

const longestNumber = 25;

function unitsLeft(value: unknown, units: number): number {
	if (typeof value === 'string') return units - value.length - 2;
	if (typeof value !== 'object' || value === null) return units - longestNumber;
	let left = units - 2;
	if (Array.isArray(value)) {
		for (const item of value as readonly unknown[]) if ((left = unitsLeft(item, left - 1)) < 0) return left;
		return left;
	}
	// A list of entries would be garbage of the size of the object, for every write.
	const members = value as {readonly [key: string]: unknown};
	for (const key in members) if ((left = unitsLeft(members[key], left - key.length - 4)) < 0) return left;
	return left;
}
