// The same with several nodes: a few at a time, how far each is shown in a line of its own, and what became of each told.

import {limits} from '../../api/limits.js';
import {asAppError} from '../command.js';
import {withProgress} from '../screen/progress.js';
import type {Terminal} from '../screen/terminal.js';

/** What is done with one node; `show` says how far it is, the answer what became of it. */
export type NodeWork = (node: string, show: (text: string) => void) => Promise<string>;

export type NodeResult = {readonly node: string} & ({readonly done: string} | {readonly problem: string});

/** All of them, also where some fail; in the order of the nodes. */
export function everywhere(terminal: Terminal, what: string, nodes: readonly string[], work: NodeWork): Promise<readonly NodeResult[]> {
	const shown = new Map<string, string>();
	const results = new Map<string, NodeResult>();
	const waiting = [...nodes];
	return withProgress(terminal, what, async progress => {
		const draw = (): void => {
			const lines = [...shown].slice(0, limits.imageNodes).map(([node, text]) => `  ${node}: ${text}`);
			progress.show(nodes.length === 1 ? [what, ...shown.values()].join(': ') : what, ...(nodes.length === 1 ? [] : lines));
		};
		const next = async (): Promise<void> => {
			for (let node = waiting.shift(); node !== undefined; node = waiting.shift()) {
				const name = node;
				const show = (text: string): void => {
					shown.set(name, text);
					draw();
				};
				results.set(name, await resultOf(name, work(name, show)));
				shown.delete(name);
				draw();
			}
		};
		await Promise.all(nodes.slice(0, limits.imageNodes).map(next));
		return nodes.flatMap(node => results.get(node) ?? []);
	});
}

async function resultOf(node: string, work: Promise<string>): Promise<NodeResult> {
	try {
		return {node, done: await work};
	} catch (error) {
		return {node, problem: asAppError(error).message};
	}
}

/** Tells what became of each; the exit code. */
export function tellResults(terminal: Terminal, results: readonly NodeResult[]): number {
	for (const result of results) {
		if ('done' in result) terminal.out(`${result.node}: ${result.done}\n`);
		else terminal.error(`${result.node}: ${result.problem}`);
	}
	return results.every(result => 'done' in result) ? 0 : 1;
}
