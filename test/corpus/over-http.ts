// What the API answers to the cases of cases.ts, by their names: as the body of a POST of a Pod, `application/json` for a file in JSON,
// else `application/yaml`. Where the same as a PUT or as a merge patch is answered otherwise, that is said.

export type HttpRefusal = {
	readonly status: number;
	/** The message of the Status matches this. */
	readonly says: RegExp;
	/** Of a PUT over a Pod. */
	readonly put?: number;
	/** Of a PATCH; 400 where nothing is said, since a merge patch is JSON. */
	readonly patch?: number;
};

const malformed = (says: RegExp): HttpRefusal => ({status: 400, says});
const invalid = (says: RegExp, put?: number): HttpRefusal => ({status: 422, says, ...(put === undefined ? {} : {put})});
const tooLarge: HttpRefusal = {status: 413, says: /^the body is larger than \d+ bytes$/, patch: 413};
const bomb = malformed(/^the aliases of the body stand for too much; /);
const notText = malformed(/^the body is no UTF-8 text$/);
const deep = malformed(/^the body is nested deeper than 64 levels: line \d+, column \d+$/);
/** An empty merge patch changes nothing, which is no fault. */
const empty: HttpRefusal = {status: 400, says: /^the body is empty; it must be a Pod$/, patch: 200};
const noObject = (found: string): HttpRefusal => malformed(new RegExp(`^the body must be an object, found ${found}$`));
const noJson = (place: string): HttpRefusal => malformed(new RegExp(`^the body is no JSON: ${place}, found `));
const noYaml = (place: string): HttpRefusal => malformed(new RegExp(`^the body is no YAML: ${place} \\([A-Z_]+\\)$`));
const proto = malformed(/^"__proto__" is not allowed as a field or key$/);
const notFinite = malformed(/^the body holds a number that is not finite$/);

export const overHttp: Readonly<Record<string, HttpRefusal>> = {
	'a file of 100 MB': tooLarge,
	'an alias bomb': bomb,
	'merge keys that lead round': bomb,
	'an alias of nothing': malformed(/^the body has an alias of nothing before it: line 5, column 4$/),
	'an anchor inside itself': malformed(/^the body is nested deeper than 64 levels$/),
	'brackets nested 100 000 deep': deep,
	'maps nested 1 000 deep': deep,
	'JSON nested 100 000 deep': malformed(/^the body is nested deeper than 64 levels$/),
	'a million keys': tooLarge,
	'many small pieces': malformed(/^the body has more than 200000 parts up to here; split it: line 1, column \d+$/),
	'many empty documents': malformed(/^one YAML document is wanted, found 20000$/),
	'the key __proto__': proto,
	'the key __proto__ in JSON': proto,
	'a label constructor that is no text': invalid(/^Pod "corpus" is invalid: spec\.constructor: unknown field/),
	'a key given twice': noYaml('line 5, column 1'),
	'a key given twice in JSON': malformed(/^the body gives a key twice: line 2, column 2, first in line 1, column 2$/),
	'a tab as indentation': noYaml('line 3, column 1'),
	'UTF-16, little end first': notText,
	'UTF-16, big end first': notText,
	'UTF-16 without a mark': noObject('a string'),
	'a picture': notText,
	'a program': noObject('a string'),
	'a letter cut in half': notText,
	nothing: empty,
	blanks: empty,
	'remarks alone': malformed(/^one YAML document is wanted, found 0$/),
	'nothing, called JSON': empty,
	'a comma too many': noJson('line 2, column 16'),
	'a remark in JSON': noJson('line 1, column 16'),
	'JSON that ends too early': noJson('line 1, column 15'),
	'a bracket that is not closed': noYaml('line 2, column 1'),
	'a quote that is not closed': noYaml('line 2, column 1'),
	'an unknown tag': noYaml('line 1, column 7'),
	'a text': noObject('a string'),
	'a number': noObject('a number'),
	'a list': noObject('a list'),
	'no kind': invalid(/^Pod "" is invalid: \[spec: is required, metadata\.name: a name or generateName is required\]$/),
	'an unknown kind': invalid(/ kind: there is no kind "Pood" in "v1"; did you mean Pod\?$/),
	'metadata that is no object': invalid(/ metadata: must be an object, got a list$/),
	'a name that is a number': invalid(/ metadata\.name: must be a string, got 7$/),
	'a number without end': notFinite,
	'a number too large for any': notFinite,
	'an item of a List that is none': invalid(/ kind: a List cannot be applied; /),
	'a namespace that climbs': malformed(/^the namespace of the provided object does not match the namespace sent on the request$/),
	'a name that climbs': invalid(/ metadata\.name: must be lower-case .*got "\.\.\/\.\.\/x"$/, 400),
	'a name of a million letters': invalid(/ metadata\.name: must be lower-case .*got "a{60}…"$/, 400),
};
