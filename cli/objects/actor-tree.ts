// The actor tree as people see it: one line an actor, with what is wrong standing out. Pure.

import type {ActorTree} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';

export type SystemTree = {readonly system: string; readonly tree?: ActorTree | null; readonly problem?: string | null};

/** Every system, its root first. `depth` counts levels below the root. */
export function drawTrees(systems: readonly SystemTree[], depth: number, colours: Colours): string {
	return systems.map(system => drawSystem(system, depth, colours)).join('\n');
}

function drawSystem({system, tree, problem}: SystemTree, depth: number, colours: Colours): string {
	const why = problem === undefined || problem === null ? '' : `  ${colours.red(inOneLine(problem))}`;
	if (tree === undefined || tree === null) return `${colours.bold(system)}${why === '' ? `  ${colours.red('cannot be reached')}` : why}\n`;
	return `${colours.bold(system)}${aboutOf(tree, colours)}${why}\n` + drawChildren(tree, '', depth, colours);
}

/** Box characters as `tree` draws them; what is deeper than asked for is counted. */
function drawChildren(node: ActorTree, prefix: string, depth: number, colours: Colours): string {
	if (node.children.length === 0) return '';
	if (depth <= 0) return `${prefix}${colours.dim(`└─ … ${countOf(node)} more`)}\n`;
	return node.children
		.toSorted((a, b) => (a.name < b.name ? -1 : 1)) // By name, so that a restart changes nothing in the picture.
		.map((child, at) => {
			const isLast = at === node.children.length - 1;
			const line = `${prefix}${isLast ? '└─ ' : '├─ '}${inOneLine(child.name)}${aboutOf(child, colours)}\n`;
			return line + drawChildren(child, prefix + (isLast ? '   ' : '│  '), depth - 1, colours);
		})
		.join('');
}

const countOf = (node: ActorTree): number => node.children.reduce((sum, child) => sum + 1 + countOf(child), 0);

/** State where it is worth a word, what it is doing, and how it fared. */
function aboutOf({state, about, restarts, waiting, failure}: ActorTree, colours: Colours): string {
	const parts = [
		stateText(state, colours),
		about === '' ? '' : colours.dim(inOneLine(about)),
		restarts > 0 ? colours.yellow(`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`) : '',
		waiting > 0 ? `${waiting} waiting` : '',
		failure === undefined || failure === null ? '' : colours.red(`last crash: ${inOneLine(failure)}`),
	];
	return parts
		.filter(part => part !== '')
		.map(part => `  ${part}`)
		.join('');
}

/** Running is the rule and needs no word. */
function stateText(state: ActorTree['state'], colours: Colours): string {
	switch (state) {
		case 'running':
			return '';
		case 'committing':
			return colours.dim('committing');
		case 'stopping':
			return colours.yellow('stopping');
		case 'restarting':
			return colours.yellow('restarting');
		case 'paused':
			return colours.yellow('paused');
		case 'parked':
			return colours.red('PARKED');
	}
}
