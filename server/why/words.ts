// The last words of a container: those that its record keeps, or those that its node has. Only readers of the pod's log see them.

import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {limits} from '../../api/limits.js';
import type {Finding, Link, LogWanted} from './finding.js';

/** Whose log is still to be read: of one container at most. */
export const wantedLog = ({chain}: Finding): LogWanted | undefined =>
	chain.some(({lines}) => lines !== undefined) ? undefined : chain.find(({log}) => log !== undefined)?.log;

/** What a node is asked for. */
export const logRequest = ({uid, container}: LogWanted): LogRequest => ({
	id: {uid, container},
	previous: false,
	offset: undefined,
	tailLines: limits.whyLogLines,
	maxBytes: readBytes,
	waitMs: 0,
});

/** Of that many lines more is not read, and of what is read only the end is shown. */
const readBytes = 16_384;

/** The last lines of what a node answered; nothing where it has none. */
export function linesOf({data}: LogChunk): readonly string[] | undefined {
	const text = Buffer.from(data, 'base64').toString('utf8').slice(-limits.lastLinesBytes);
	const lines = boundedLines(text.split('\n'));
	return lines.length === 0 ? undefined : lines;
}

/** Without control characters, and without empty lines at the end. */
function boundedLines(lines: readonly string[]): readonly string[] {
	const plain = lines.map(line => line.replace(/[^\P{Cc}\t]/gu, ''));
	while (plain.at(-1)?.trim() === '') plain.pop();
	return plain.slice(-limits.whyLogLines);
}

/** The finding with those lines, at the link that asked for them. */
export function withLines(finding: Finding, lines: readonly string[]): Finding {
	const at = finding.chain.findIndex(({log}) => log !== undefined);
	return {...finding, chain: finding.chain.map((link, i) => (i === at ? {...link, lines} : link))};
}

/** The chain as it is shown: bounded, and without words for those who may not read the log. */
export function shownChain({chain}: Finding, mayReadLogs: boolean): readonly Link[] {
	return chain.map(({about, says, atMs, lines}) => ({
		about,
		says,
		...(atMs === undefined ? {} : {atMs}),
		...(lines === undefined || !mayReadLogs ? {} : {lines: boundedLines(lines)}),
	}));
}
