// The colours of a graph's states and ways. Pure.

import type {GraphEdge, Mark} from './graph.js';

const colours: Readonly<Record<Mark, {readonly fill: string; readonly line: string}>> = {
	notReached: {fill: '#f5f5f5', line: '#999999'},
	done: {fill: '#d5ecd4', line: '#3c7a3b'},
	underWay: {fill: '#fff1b8', line: '#a07800'},
	failed: {fill: '#f6cdc9', line: '#b3362a'},
};

export const fillOf = (mark: Mark): string => colours[mark].fill;

/** Of the edge of a state. */
export const lineOf = (mark: Mark): string => colours[mark].line;

export function edgeColour({isTaken, isCatch}: GraphEdge): string {
	if (isTaken) return isCatch ? '#b3362a' : '#3c7a3b';
	return '#aaaaaa';
}
