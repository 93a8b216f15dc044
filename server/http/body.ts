// A request's body, as a JSON object. Bounded in bytes and depth; what cannot be read is told by its place, never shown.

import type {IncomingMessage} from 'node:http';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {doubleKey, writtenKeys} from './double-key.js';
import {jsonFault} from '../../api/json-fault.js';
import {refusal} from './outcome.js';
import {parseYaml} from './yaml-body.js';

const jsonTypes = ['application/json', 'text/json'];
const yamlTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/** The client closed the connection before its request was whole; no client is left to be told. */
export class ClientGone extends Error {
	override readonly name = 'ClientGone';
}

/** The media type of a request without its parameters, lower case; empty when it names none. */
export const mediaTypeOf = (request: IncomingMessage): string =>
	(request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

type Accepted = {readonly types?: readonly string[]; readonly yaml?: boolean};

/**
 * The object in the body; undefined when the body is empty. JSON is taken, with `yaml` YAML as well, with `types` only bodies of these
 * types.
 */
export async function readObject(request: IncomingMessage, accepted: Accepted = {}): Promise<JsonObject | undefined> {
	const value = await readJson(request, accepted);
	if (value === undefined || isObject(value)) return value;
	throw refusal(`the body must be an object, found ${Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`}`);
}

/** The same of a body that may be any JSON. */
export async function readJson(request: IncomingMessage, accepted: Accepted): Promise<unknown> {
	const types = accepted.types ?? [...jsonTypes, ...(accepted.yaml === true ? yamlTypes : [])];
	const type = mediaTypeOf(request);
	// A missing type means JSON; `kubectl create --raw` sends a file's bytes that way, so YAML may come (see parse).
	if (type !== '' && !types.includes(type)) throw unsupported(types);
	if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
		throw new AppError('ERR_UNSUPPORTED_MEDIA_TYPE', {message: 'the body is compressed; send it as it is, without a Content-Encoding'});
	const text = decoded(await readBytes(request));
	if (text.trim() === '') return undefined;
	const {value, isJson} = await parse(text, type, types);
	const keys = checkDocument(value);
	if (isJson && keys !== writtenKeys(text)) throw doubled(text);
	return value;
}

/** What manifests are taken in. */
export const manifestTypes = [...jsonTypes, ...yamlTypes];

/** What to answer when a body comes in a form that is not taken. kubectl looks for the code, people for the list. */
export const unsupported = (types: readonly string[]): AppError =>
	new AppError('ERR_UNSUPPORTED_MEDIA_TYPE', {
		message: `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
	});

/** All bytes, at most so many. What is beyond is never kept. Rejects with ERR_TOO_LARGE. */
export function readBytes(request: IncomingMessage, most: number = limits.requestBodyBytes): Promise<Buffer> {
	const tooLarge = new AppError('ERR_TOO_LARGE', {message: `the body is larger than ${most} bytes`});
	const chunks: Buffer[] = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		if (Number(request.headers['content-length'] ?? 0) > limits.discardedBodyBytes) return reject(tooLarge);
		request.on('data', (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes <= most) chunks.push(chunk);
			else chunks.length = 0;
			if (bytes <= limits.discardedBodyBytes) return;
			request.pause();
			reject(tooLarge);
		});
		request.on('end', () => (bytes > most ? reject(tooLarge) : resolve(Buffer.concat(chunks))));
		request.on('error', () => reject(new ClientGone('the client closed the connection')));
		request.on('close', () => reject(new ClientGone('the client closed the connection')));
	});
}

function decoded(bytes: Buffer): string {
	try {
		return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
	} catch {
		throw refusal('the body is no UTF-8 text');
	}
}

/** The value of a body; in YAML keys that are given twice are faults already. */
async function parse(text: string, type: string, types: readonly string[]): Promise<{value: unknown; isJson: boolean}> {
	const takesYaml = types.some(each => yamlTypes.includes(each));
	if (yamlTypes.includes(type) || (type === '' && takesYaml && !/^\s*[{[]/.test(text)))
		return {value: await parseYaml(text), isJson: false};
	try {
		return {value: JSON.parse(text), isJson: true};
	} catch {
		const fault = jsonFault(text);
		throw refusal(
			fault === undefined
				? 'the body is no JSON'
				: `the body is no JSON: line ${fault.line}, column ${fault.column}, found ${fault.found} where something else belongs`,
		);
	}
}

/**
 * Refuses what would harm those who walk the document later: nesting that exhausts the stack, the key `__proto__`, and YAML's
 * numbers that JSON does not have. The number of keys in it.
 */
function checkDocument(document: unknown): number {
	let keys = 0;
	const open: {readonly value: object; readonly depth: number}[] = [];
	if (typeof document === 'object' && document !== null) open.push({value: document, depth: 1});
	for (let at = open.pop(); at !== undefined; at = open.pop()) {
		if (at.depth > limits.objectDepth) throw refusal(`the body is nested deeper than ${limits.objectDepth} levels`);
		if (Object.hasOwn(at.value, '__proto__')) throw refusal('"__proto__" is not allowed as a field or key');
		const children = Object.values(at.value) as unknown[];
		if (!Array.isArray(at.value)) keys += children.length;
		for (const child of children) {
			if (typeof child === 'object' && child !== null) open.push({value: child, depth: at.depth + 1});
			else if (typeof child === 'number' && !Number.isFinite(child)) throw refusal('the body holds a number that is not finite');
			else if (typeof child === 'bigint' || typeof child === 'symbol') throw refusal('the body holds a value that JSON does not have');
		}
	}
	return keys;
}

function doubled(text: string): AppError {
	const {at, first} = doubleKey(text) ?? {};
	const place =
		at === undefined || first === undefined
			? ''
			: `: line ${at.line}, column ${at.column}, first in line ${first.line}, column ${first.column}`;
	return refusal(`the body gives a key twice${place}`);
}
