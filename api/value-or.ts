// A reading that may fail for reasons that nobody has to know: what is not there, is gone by now, or is no such text.

/** What is read; `otherwise` where that throws, whatever it throws. */
export function valueOr<Value, Other>(otherwise: Other, read: () => Value): Value | Other {
	try {
		return read();
	} catch {
		return otherwise;
	}
}

/** What a text says; undefined where it is no JSON. */
export const parsedJson = (text: string): unknown => valueOr(undefined, () => JSON.parse(text) as unknown);
