// The access log, in the Combined Log Format: each request that ended, a line. It is turned at a size, and what it keeps waiting is bounded: a disk
// that hangs costs lines, and no request.
//
// Queries are left out, of the target and of Referer: they may be secret. In the place of the identity, which is "-" with everybody, stands the id
// that a page of the router shows.

import {createWriteStream, renameSync, statSync, type WriteStream} from 'node:fs';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';

export type LoggedRequest = {
	readonly client: string;
	/** Of the page that the router answered with. */
	readonly id: string | undefined;
	readonly method: string;
	readonly target: string;
	readonly version: string;
	readonly status: number;
	readonly bytes: number;
	readonly referer: string | undefined;
	readonly userAgent: string | undefined;
};

export type AccessLog = {
	readonly add: (request: LoggedRequest) => void;
	readonly close: () => void;
};

type AccessLogOptions = {
	readonly file: string;
	readonly clock: Clock;
	/** Undefined: it is written again. */
	readonly onProblem: (problem: string | undefined) => void;
};

export function openAccessLog({file, clock, onProblem}: AccessLogOptions): AccessLog {
	let bytes = valueOr(0, () => statSync(file).size);
	let stream: WriteStream | undefined;
	let lines: string[] = [];
	let waiting = 0;
	let isBehind = false;
	let cancel: (() => void) | undefined;
	let second = -1;
	let stamp = '';

	const open = (): WriteStream => {
		const opened = createWriteStream(file, {flags: 'a', mode: 0o600});
		opened.on('error', error => {
			if (stream === opened) stream = undefined;
			onProblem(`the access log cannot be written: ${error.message}`);
		});
		opened.once('open', () => onProblem(undefined));
		return opened;
	};
	const turn = (): void => {
		stream?.end();
		stream = undefined;
		valueOr(undefined, () => renameSync(file, `${file}.1`));
		bytes = 0;
	};
	const write = (): void => {
		cancel = undefined;
		if (lines.length === 0) return;
		if (bytes >= limits.routerLogBytes) turn();
		stream ??= open();
		const text = lines.join('');
		lines = [];
		waiting = 0;
		if (stream.writableLength > limits.routerLogWaitingBytes) {
			isBehind = true;
			return onProblem('the access log is written too slowly: lines are lost');
		}
		if (isBehind) onProblem(undefined);
		isBehind = false;
		bytes += text.length;
		stream.write(text, 'latin1');
	};
	const timeOf = (nowMs: number): string => {
		const now = Math.floor(nowMs / 1_000);
		if (now !== second) [second, stamp] = [now, clfTime(now * 1_000)];
		return stamp;
	};
	return {
		add(request) {
			const line = lineOf(request, timeOf(clock.nowMs()));
			lines.push(line);
			waiting += line.length;
			if (waiting >= limits.routerLogChunkBytes) {
				cancel?.();
				write();
			} else cancel ??= clock.after(limits.routerLogMs, write);
		},
		close() {
			cancel?.();
			write();
			stream?.end();
		},
	};
}

function lineOf({client, id = '-', method, target, version, status, bytes, referer, userAgent}: LoggedRequest, time: string): string {
	const size = bytes === 0 ? '-' : bytes;
	const request = `${method} ${withoutQuery(target)} HTTP/${version}`;
	return `${client} ${id} - [${time}] "${quoted(request)}" ${status} ${size} "${quoted(withoutQuery(referer ?? '-'))}" "${quoted(userAgent ?? '-')}"\n`;
}

const withoutQuery = (text: string): string => {
	const end = text.search(/[?#]/);
	return end < 0 ? text : text.slice(0, end);
};

/** A client's words: they end no field and no line, and are not longer than one can read. */
function quoted(text: string): string {
	const short = text.length > limits.routerLogFieldCharacters ? text.slice(0, limits.routerLogFieldCharacters) : text;
	return /["\\]|[^\x20-\x7e]/.test(short)
		? short.replace(/["\\]|[^\x20-\x7e]/g, character =>
				character.charCodeAt(0) < 0x20 || character > '~' ? hexOf(character) : `\\${character}`,
			)
		: short;
}

const hexOf = (character: string): string => `\\x${(character.charCodeAt(0) & 0xff).toString(16).padStart(2, '0')}`;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `10/Oct/2026:13:55:36 +0000`. */
function clfTime(nowMs: number): string {
	const [date = '', time = ''] = new Date(nowMs).toISOString().split('T');
	const [year, month, day] = date.split('-');
	return `${day}/${months[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
