// A part of a test or a benchmark in a process of its own: functions that are called by name, with values that can be told.

import {fork, type ChildProcess} from 'node:child_process';
import type {Owner} from './owner.js';

/** The functions of a part; each takes one value and answers with one. */
export type Part = Readonly<Record<string, (value: never) => unknown>>;

type Call = {readonly id: number; readonly name: string; readonly value: unknown};
type Answer = {readonly id: number; readonly value?: unknown; readonly problem?: string};

/** In the process of the part: answers calls until the other side is gone. */
export function serve(part: Part): void {
	process.on('message', (call: Call) => {
		const answer = async (): Promise<Answer> => {
			const named = part[call.name] as ((value: unknown) => unknown) | undefined;
			return {id: call.id, value: await named?.(call.value)};
		};
		answer().then(
			done => process.send?.(done),
			(error: unknown) => process.send?.({id: call.id, problem: String(error)}),
		);
	});
	process.on('disconnect', () => process.exit());
}

export type Remote<Served extends Part> = {
	readonly pid: number;
	readonly call: <Name extends keyof Served & string>(
		name: Name,
		value: Parameters<Served[Name]>[0],
	) => Promise<Awaited<ReturnType<Served[Name]>>>;
};

/** Starts the program of a part, by the words that are to stand before its command; it ends with its owner. */
export function startPart<Served extends Part>(
	{teardown}: Owner,
	program: string,
	nodeFlags: readonly string[] = [],
	words: readonly string[] = [],
): Remote<Served> {
	const [execPath = process.execPath, ...execArgv] = [...words, process.execPath, ...nodeFlags];
	const child: ChildProcess = fork(program, {execPath, execArgv, serialization: 'advanced'});
	const waiting = new Map<number, (answer: Answer) => void>();
	let calls = 0;
	child.on('message', (answer: Answer) => {
		waiting.get(answer.id)?.(answer);
		waiting.delete(answer.id);
	});
	child.on('exit', () => {
		for (const [id, settle] of waiting) settle({id, problem: `${program} ended`});
		waiting.clear();
	});
	teardown(() => void child.kill('SIGKILL'));
	return {
		pid: child.pid ?? 0,
		call: (name, value) =>
			new Promise((resolve, reject) => {
				calls += 1;
				waiting.set(calls, ({value: result, problem}) => (problem === undefined ? resolve(result as never) : reject(new Error(problem))));
				child.send({id: calls, name, value} satisfies Call);
			}),
	};
}
