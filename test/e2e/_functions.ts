// Functions as tests write them, and calls of them as curl makes them.

import {mkdirSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import path from 'node:path';
import {parsedJson} from '../../api/value-or.js';
import type {Home} from './_rig.js';

/** Writes a folder with this code, and a manifest that names it; applies it. What the command prints. */
export async function deploy(home: Home, name: string, code: string, spec: object = {}, file = 'func.mjs'): Promise<string> {
	const folder = path.join(home.folder, name);
	mkdirSync(folder, {recursive: true});
	writeFileSync(path.join(folder, file), code);
	const manifest = {
		apiVersion: 'troupe.dev/v1',
		kind: 'Function',
		metadata: {name},
		spec: {userUploadFilePath: name, idle: '60s', ...spec},
	};
	writeFileSync(manifestOf(home, name), JSON.stringify(manifest));
	return home.fine('apply', '-f', manifestOf(home, name));
}

export const manifestOf = ({folder}: Home, name: string): string => path.join(folder, `${name}.yaml`);

export type Answer = {readonly status: number; readonly text: string; readonly headers: NodeJS.Dict<string | string[]>};

export type CallOptions = {
	readonly headers?: NodeJS.Dict<string>;
	/** Undefined: the admin's; null: none. */
	readonly token?: string | null;
};

/** A call at the web door. Rejects where there is no answer, or only a part of one. */
export function call(home: Home, name: string, body: unknown, {headers = {}, token = home.token()}: CallOptions = {}): Promise<Answer> {
	const bytes = Buffer.from(JSON.stringify(body));
	const sent = {
		...(token === null ? {} : {authorization: `Bearer ${token}`}),
		'content-type': 'application/json',
		'content-length': bytes.length,
		...headers,
	};
	return new Promise((resolve, reject) => {
		const asked = request(`${home.endpoints().web}/functions/default/${name}`, {method: 'POST', headers: sent}, answer => {
			let text = '';
			answer.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
			answer.once('end', () => resolve({status: answer.statusCode ?? 0, text, headers: answer.headers}));
			answer.once('error', reject);
		});
		asked.once('error', reject);
		asked.end(bytes);
	});
}

export const valueOf = ({text}: Answer): unknown => parsedJson(text);
