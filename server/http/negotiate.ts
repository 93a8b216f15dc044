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

/** The version in which JSON is asked for as this kind of document, of those there are; undefined: as it is. */
function versionAs<Version extends string>(accept: string | undefined, kind: string, versions: readonly Version[]): Version | undefined {
	for (const {type, parameters} of rangesOf(accept)) {
		if (type !== 'application/json') continue;
		if (parameters.get('as') === undefined) return undefined;
		const version = versions.find(each => each === parameters.get('v'));
		if (parameters.get('as') === kind && version !== undefined) return version;
	}
	return undefined;
}

/** Table or plain JSON. */
export function formOf(accept: string | undefined): Form {
	const version = versionAs(accept, 'Table', ['v1', 'v1beta1']);
	return version === undefined ? {type: 'json'} : {type: 'table', version};
}

/** The version of aggregated discovery that was asked for, or plain. */
export const discoveryFormOf = (accept: string | undefined): 'v2' | 'v2beta1' | 'plain' =>
	versionAs(accept, 'APIGroupDiscoveryList', ['v2', 'v2beta1']) ?? 'plain';
