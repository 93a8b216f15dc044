// A spot in another network namespace, used from here.

import {spawn} from 'node:child_process';
import path from 'node:path';
import {createInterface} from 'node:readline';
import type {Owner} from '../owner.js';
import {withCode, type Spot} from './spot.js';

type Waiting = {readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void};

/** `words` stand before the command, as `ip netns exec NAME`. The program ends with its owner. */
export async function spotElsewhere(owner: Owner, words: readonly string[]): Promise<Spot> {
	const [command = '', ...rest] = [...words, process.execPath, path.join(import.meta.dirname, 'spot-program.js')];
	const child = spawn(command, rest, {stdio: ['pipe', 'pipe', 'inherit']});
	owner.teardown(() => void child.kill('SIGKILL'));
	const waiting = new Map<number, Waiting>();
	let last = 0;
	const ready = new Promise<void>((resolve, reject) => {
		waiting.set(0, {resolve: () => resolve(), reject});
	});
	createInterface({input: child.stdout}).on('line', line => {
		const [id, value, message, code] = JSON.parse(line) as readonly [number, unknown, string?, string?];
		const call = waiting.get(id);
		waiting.delete(id);
		if (message === undefined) call?.resolve(value);
		else call?.reject(withCode(message, code ?? ''));
	});
	const fail = (): void => {
		for (const call of waiting.values()) call.reject(new Error(`the program of ${words.join(' ')} has ended`));
		waiting.clear();
	};
	child.once('exit', fail).once('error', fail);
	child.stdin.on('error', () => undefined);
	await ready;
	const call =
		(method: keyof Spot) =>
		(...given: readonly unknown[]): Promise<never> => {
			last += 1;
			const id = last;
			return new Promise((resolve, reject) => {
				waiting.set(id, {resolve: resolve as (value: unknown) => void, reject});
				child.stdin.write(`${JSON.stringify([id, method, ...given])}\n`);
			});
		};
	return {
		serve: call('serve'),
		stop: call('stop'),
		ask: call('ask'),
		open: call('open'),
		say: call('say'),
		finish: call('finish'),
		over: call('over'),
	};
}
