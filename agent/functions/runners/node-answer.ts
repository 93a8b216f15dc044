// What a function is given and what it may return, as HTTP: docs/functions.md has the tables.

import {validateHeaderName, validateHeaderValue} from 'node:http';
import {inspect} from 'node:util';

export type Main = (params: unknown, request: CallRequest) => unknown;

export type CallRequest = {
	readonly id: string;
	readonly method: string;
	/** With the query. */
	readonly path: string;
	readonly query: Query;
	/** Names in lower case. */
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
	/** Aborted when the call's time is over, or its caller has gone. */
	readonly signal: AbortSignal;
	readonly answer: (body: unknown, form?: {readonly status?: number; readonly headers?: Readonly<Record<string, unknown>>}) => Answer;
};

type Query = Readonly<Record<string, string | readonly string[]>>;

export type Headers = Readonly<Record<string, string | string[]>>;
type Pieces = Iterator<unknown> | AsyncIterator<unknown>;

export type Outgoing = {readonly status: number; readonly headers: Headers} & (
	| {readonly body: Buffer}
	/** Texts and bytes, one by one. */
	| {readonly pieces: Pieces; readonly bytesOf: (piece: unknown) => Uint8Array | string}
);

/** What a request or a function did wrong, as it is answered. */
export class CallError extends Error {
	readonly status: number;
	readonly code: string;
	/** Of what a function threw: its class, and the lines of its own. */
	readonly thrown: string | undefined;
	readonly traceback: string | undefined;

	constructor(
		status: number,
		code: string,
		message: string,
		{thrown, traceback}: {readonly thrown?: string; readonly traceback?: string} = {},
	) {
		super(message);
		this.status = status;
		this.code = code;
		this.thrown = thrown;
		this.traceback = traceback;
	}
}

type AnswerForm = {readonly body: unknown; readonly status: number; readonly headers: Readonly<Record<string, unknown>>};

/** Made by `request.answer`: no other object is taken for one. */
export class Answer {
	readonly form: AnswerForm;

	constructor(form: AnswerForm) {
		this.form = form;
	}
}

// ---- what it is given ----------------------------------------------------------------------------------------------------

export const queryOf = (url: string): Query => fieldsOf(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');

/** An object of texts, and of lists of texts where a name comes several times. */
function fieldsOf(text: string): Query {
	const fields = new URLSearchParams(text);
	const valueOf = (name: string): string | readonly string[] => {
		const [first = '', ...others] = fields.getAll(name);
		return others.length === 0 ? first : [first, ...others];
	};
	return Object.fromEntries([...new Set(fields.keys())].map(name => [name, valueOf(name)]));
}

const formType = 'application/x-www-form-urlencoded';

/** `curl -d` says that its JSON is a form. */
const isJson = (type: string, body: Buffer): boolean =>
	type === '' || type === 'application/json' || type.endsWith('+json') || (type === formType && (body[0] === brace || body[0] === bracket));

const [brace, bracket] = [0x7b, 0x5b];

/** Throws CallError. */
export function paramsOf(contentType: string | undefined, body: Buffer, query: Query): unknown {
	if (body.length === 0) return query;
	const type = (contentType?.split(';')[0] ?? '').trim().toLowerCase();
	if (type === formType && !isJson(type, body)) return fieldsOf(body.toString());
	if (!isJson(type, body)) return {};
	try {
		return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(body));
	} catch (error) {
		throw new CallError(400, 'ERR_BAD_REQUEST', `the body is no JSON: ${messageOf(error)}`);
	}
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// ---- what it returns -----------------------------------------------------------------------------------------------------

const connectionHeaders = new Set([
	'connection',
	'content-length',
	'keep-alive',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'x-request-id',
	'x-troupe-refused',
]);

const failed = (message: string): CallError => new CallError(500, 'ERR_FUNCTION', message);

/** Throws CallError where it cannot be answered. */
export function outgoingOf(value: unknown, answerBytes: number): Outgoing {
	const outgoing = value instanceof Answer ? ofAnswer(value.form) : ofValue(value, 200, {});
	if ('body' in outgoing && outgoing.body.length > answerBytes)
		throw failed(`the answer is larger than ${answerBytes} bytes: an iterator streams what is larger`);
	return outgoing;
}

function ofValue(value: unknown, status: number, headers: Headers): Outgoing {
	const pieces = piecesOf(value);
	if (pieces !== undefined)
		return {
			status,
			headers: {'content-type': 'application/x-ndjson', ...headers},
			pieces,
			bytesOf: piece => `${jsonOf(piece)}\n`,
		};
	return {status, headers: {'content-type': 'application/json', ...headers}, body: Buffer.from(jsonOf(value))};
}

/** Of these HTTP knows no body (RFC 9110, 15). */
export const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

function ofAnswer({body, status, headers: given}: AnswerForm): Outgoing {
	if (!Number.isInteger(status) || status < 200 || status > 599) throw failed(`${String(status)} is no status of an answer: 200 to 599`);
	if (bodiless.has(status) && body !== undefined) throw failed(`an answer with status ${status} has no body`);
	const headers = headersOf(given);
	const typed = (type: string): Headers => ({'content-type': type, ...headers});
	if (body === undefined) return {status, headers, body: Buffer.alloc(0)};
	if (typeof body === 'string') return {status, headers: typed('text/plain; charset=utf-8'), body: Buffer.from(body)};
	if (body instanceof Uint8Array) return {status, headers: typed('application/octet-stream'), body: Buffer.from(body)};
	const pieces = piecesOf(body);
	return pieces === undefined ? ofValue(body, status, headers) : {status, headers: typed('application/octet-stream'), pieces, bytesOf};
}

function bytesOf(piece: unknown): Uint8Array | string {
	if (typeof piece === 'string' || piece instanceof Uint8Array) return piece;
	throw failed(`a streamed answer is made of texts and bytes, and not of ${typeof piece}`);
}

/** Iterators are streamed; lists are values. */
function piecesOf(value: unknown): Pieces | undefined {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Symbol.asyncIterator in value) return (value as AsyncIterable<unknown>)[Symbol.asyncIterator]();
	if ('next' in value && typeof value.next === 'function') return value as unknown as Iterator<unknown>;
	return undefined;
}

function jsonOf(value: unknown): string {
	let text: unknown;
	try {
		text = JSON.stringify(value ?? null);
	} catch (error) {
		throw failed(`what it returned is no JSON: ${messageOf(error)}`);
	}
	if (typeof text !== 'string') throw failed(`what it returned is no JSON: a ${typeof value}`);
	return text;
}

function headersOf(given: Readonly<Record<string, unknown>>): Headers {
	const headers = Object.entries(given).map(([name, value]): [string, string | string[]] => {
		const texts = Array.isArray(value) ? value.map(String) : [String(value)];
		try {
			validateHeaderName(name);
			for (const text of texts) validateHeaderValue(name, text);
		} catch (error) {
			throw failed(messageOf(error));
		}
		if (connectionHeaders.has(name.toLowerCase())) throw failed(`the header ${name} belongs to the connection`);
		return [name.toLowerCase(), Array.isArray(value) ? texts : String(value)];
	});
	return Object.fromEntries(headers);
}

// ---- what it throws ------------------------------------------------------------------------------------------------------

const tracebackCharacters = 16_384;
const messageCharacters = 4_096;
const nameCharacters = 256;
/** Frames of Node and of the runner say nothing to who wrote the function. */
const strange = [/\(?node:/, import.meta.dirname];

/** What a function threw, with the lines of its own. */
export function thrownBy(error: unknown): CallError {
	if (error instanceof CallError) return error;
	// Not every value can be made a text; a stack may be anything that a function has put there.
	if (!(error instanceof Error)) return failed(`it threw ${inspect(error)}`.slice(0, messageCharacters));
	const thrown = nameOf(error).slice(0, nameCharacters);
	const message = `${thrown}: ${error.message}`.slice(0, messageCharacters);
	const lines = (typeof error.stack === 'string' ? error.stack : '').split('\n');
	const own = lines.filter(
		line => !/^\s+at /.test(line) || !strange.some(each => (typeof each === 'string' ? line.includes(each) : each.test(line))),
	);
	return new CallError(500, 'ERR_FUNCTION', message, {thrown, traceback: own.join('\n').slice(0, tracebackCharacters)});
}

/** What it calls itself, or else its class: one that is derived from another and says nothing inherits the name of that. */
function nameOf(error: Error): string {
	const {constructor: made} = error as {readonly constructor?: {readonly name?: unknown; readonly prototype?: object | undefined}};
	const says = Object.hasOwn(error, 'name') || (made?.prototype !== undefined && Object.hasOwn(made.prototype, 'name'));
	const name: unknown = says ? error.name : made?.name;
	return typeof name === 'string' && name !== '' ? name : 'Error';
}
