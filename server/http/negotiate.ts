// What form of an answer a client asked for. Nothing is answered that was not offered, except that JSON is for all.

/** A Table of kubectl's, in the version that was asked for. */
export type Form = {readonly type: 'json'} | {readonly type: 'table'; readonly version: 'v1' | 'v1beta1'};

type MediaRange = {readonly type: string; readonly parameters: ReadonlyMap<string, string>};

/** In the order they were given, which is the order kubectl prefers. */
function rangesOf(accept: string | undefined): readonly MediaRange[] {
	return (accept ?? '').split(',').map(range => {
		const [type = '', ...parameters] = range.split(';').map(part => part.trim());
		const pairs = parameters.map(parameter => parameter.split('=', 2)).map(([name = '', value = '']) => [name, value] as const);
		return {type: type.toLowerCase(), parameters: new Map(pairs)};
	});
}

/** Table or plain JSON. */
export function formOf(accept: string | undefined): Form {
	for (const {type, parameters} of rangesOf(accept)) {
		if (type !== 'application/json') continue;
		const version = parameters.get('v');
		if (parameters.get('as') === undefined) return {type: 'json'};
		if (parameters.get('as') === 'Table' && (version === 'v1' || version === 'v1beta1')) return {type: 'table', version};
	}
	return {type: 'json'};
}

/** The version of aggregated discovery that was asked for, or plain. */
export function discoveryFormOf(accept: string | undefined): 'v2' | 'v2beta1' | 'plain' {
	for (const {type, parameters} of rangesOf(accept)) {
		if (type !== 'application/json') continue;
		const version = parameters.get('v');
		if (parameters.get('as') === undefined) return 'plain';
		if (parameters.get('as') === 'APIGroupDiscoveryList' && (version === 'v2' || version === 'v2beta1')) return version;
	}
	return 'plain';
}
