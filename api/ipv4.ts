// IPv4 addresses and subnets as numbers.

export type Subnet = {
	/** Its lowest address. */
	readonly first: number;
	readonly size: number;
};

/** Undefined: it is no address of four numbers with dots between them. */
export function ipv4Number(address: string): number | undefined {
	const parts = address.split('.', 5);
	if (parts.length !== 4 || !parts.every(part => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
	return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

export const ipv4Text = (value: number): string => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');

/** Reads `10.244.3.0/24`. Undefined: it is none, or its address is not the lowest of it. */
export function parseSubnet(text: string): Subnet | undefined {
	const [address = '', prefix = '', ...rest] = text.split('/', 3);
	const first = ipv4Number(address);
	const bits = Number(prefix);
	if (first === undefined || rest.length > 0 || !/^\d{1,2}$/.test(prefix) || bits > 32) return undefined;
	const size = 2 ** (32 - bits);
	return first % size === 0 ? {first, size} : undefined;
}

/** Reads a subnet, or one address. Undefined: it is neither. */
export const rangeOf = (text: string): Subnet | undefined => parseSubnet(text.includes('/') ? text : `${text}/32`);

/** Reads `10.244.3.7/24` as the subnet that has this address. Undefined: it is none. */
export function subnetAround(text: string): Subnet | undefined {
	const [address = '', prefix = '', ...rest] = text.split('/', 3);
	const value = ipv4Number(address);
	if (value === undefined || rest.length > 0 || !/^(\d|[12]\d|3[0-2])$/.test(prefix)) return undefined;
	const size = 2 ** (32 - Number(prefix));
	return {first: value - (value % size), size};
}

export const subnetText = ({first, size}: Subnet): string => `${ipv4Text(first)}/${32 - Math.log2(size)}`;

/** Whether all of `part` is in `whole`. */
export const isWithin = (part: Subnet, whole: Subnet): boolean =>
	part.first >= whole.first && part.first + part.size <= whole.first + whole.size;

export const overlap = (a: Subnet, b: Subnet): boolean => a.first < b.first + b.size && b.first < a.first + a.size;
