// A service that takes a request only in the one form that nobody reads otherwise (RFC 9112), and keeps what it had to say against what came.

import {createServer, type Server} from 'node:net';

export type StrictRequest = {
	readonly line: string;
	readonly fields: readonly (readonly [name: string, value: string])[];
	readonly body: string;
	readonly trailers: readonly string[];
};

export type StrictService = {
	readonly server: Server;
	readonly requests: StrictRequest[];
	/** What could be read in another way, each with the bytes. */
	readonly complaints: string[];
};

/** It answers each request with 200. */
export function strictService(): StrictService {
	const requests: StrictRequest[] = [];
	const complaints: string[] = [];
	const server = createServer(socket => {
		let bytes = '';
		socket
			.on('error', () => undefined)
			.on('data', data => {
				bytes += data.toString('latin1');
				for (;;) {
					const read = readOne(bytes);
					if (read === undefined) return;
					if ('complaint' in read) {
						complaints.push(`${read.complaint}: ${JSON.stringify(bytes.slice(0, 2_000))}`);
						return void socket.destroy();
					}
					requests.push(read.request);
					bytes = bytes.slice(read.length);
					socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
				}
			});
	});
	return {server, requests, complaints};
}

type Read = {readonly request: StrictRequest; readonly length: number} | {readonly complaint: string};

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const requestLine = /^[A-Z-]+ \/[\x21-\x7e\x80-\xff]* HTTP\/1\.1$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Undefined: not all of it is there. */
function readOne(bytes: string): Read | undefined {
	const end = bytes.indexOf('\r\n\r\n');
	if (end < 0) return undefined;
	const [line = '', ...rest] = bytes.slice(0, end).split('\r\n');
	if (!requestLine.test(line)) return {complaint: 'no request line'};
	const fields = rest.map(text => {
		const colon = text.indexOf(':');
		return [text.slice(0, Math.max(0, colon)), text.slice(colon + 1).trim()] as const;
	});
	const bad = fields.find(([name, value]) => !token.test(name) || !valueForm.test(value));
	if (bad !== undefined) return {complaint: `a field that is none, ${JSON.stringify(bad)}`};
	const all = (wanted: string): readonly string[] => fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
	if (all('host').length !== 1) return {complaint: 'not one host'};
	const lengths = all('content-length');
	const encodings = all('transfer-encoding');
	if (lengths.length + encodings.length > 1) return {complaint: 'several lengths'};
	const start = end + 4;
	if (encodings.length === 1) return encodings[0] === 'chunked' ? readChunks(bytes, start, line, fields) : {complaint: 'an encoding'};
	const [length = '0'] = lengths;
	if (!/^\d{1,15}$/.test(length)) return {complaint: 'a length that is none'};
	const stop = start + Number(length);
	return bytes.length < stop ? undefined : {request: {line, fields, body: bytes.slice(start, stop), trailers: []}, length: stop};
}

const unfit = /^(content-length|transfer-encoding|host|trailer|x-forwarded-.*|x-real-ip|authorization|cookie|te|connection)$/i;

function readChunks(bytes: string, start: number, line: string, fields: StrictRequest['fields']): Read | undefined {
	let body = '';
	for (let at = start; ;) {
		const end = bytes.indexOf('\r\n', at);
		if (end < 0) return undefined;
		const size = bytes.slice(at, end);
		if (!/^[0-9a-fA-F]{1,12}$/.test(size)) return {complaint: `a chunk size ${JSON.stringify(size)}`};
		const length = Number.parseInt(size, 16);
		if (length === 0) {
			const trailers: string[] = [];
			for (let from = end + 2; ;) {
				const stop = bytes.indexOf('\r\n', from);
				if (stop < 0) return undefined;
				const text = bytes.slice(from, stop);
				from = stop + 2;
				if (text !== '') trailers.push(text);
				else {
					const wrong = trailers.find(each => !token.test(each.split(':', 1)[0] ?? '') || unfit.test(each.split(':', 1)[0] ?? ''));
					return wrong === undefined ? {request: {line, fields, body, trailers}, length: from} : {complaint: `a trailer ${wrong}`};
				}
			}
		}
		if (bytes.length < end + 2 + length + 2) return undefined;
		body += bytes.slice(end + 2, end + 2 + length);
		if (bytes.slice(end + 2 + length, end + 4 + length) !== '\r\n') return {complaint: 'a chunk without an end'};
		at = end + 4 + length;
	}
}
