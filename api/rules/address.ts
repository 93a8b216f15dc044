// The syntax of IP addresses.

const byte = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`^${byte}(\\.${byte}){3}$`);
const group = /^[0-9a-fA-F]{1,4}$/;

export const isIPv4 = (text: string): boolean => ipv4.test(text);

/** RFC 4291 section 2.2; without a zone. */
export function isIPv6(text: string): boolean {
	const halves = text.split('::');
	if (halves.length > 2) return false;
	const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')));
	const last = groups.at(-1) ?? '';
	const width = groups.length + (isIPv4(last) ? 1 : 0);
	const isSound = groups.every((each, i) => group.test(each) || (i === groups.length - 1 && isIPv4(each)));
	return isSound && (halves.length === 2 ? width < 8 : width === 8);
}
