// The programs that set up networks, as this host has them, and calls to them: words and lines of ours, no shell.

import {execFile} from 'node:child_process';
import {limits} from '../../api/limits.js';
import {findTool} from '../os/tools.js';

/** Absolute paths. */
export type NetworkTools = {
	readonly ip: string;
	readonly bridge: string;
	readonly nft: string;
	readonly nsenter: string;
	/** Undefined: nothing of it is needed. */
	readonly iptables: string | undefined;
	/** Undefined: connections of pods that have ended are forgotten when their time is over. */
	readonly conntrack: string | undefined;
};

const needed = {ip: 'iproute2', bridge: 'iproute2', nft: 'nftables', nsenter: 'util-linux'} as const;

/** Or what is missing, for people. */
export function findNetworkTools(): NetworkTools | string {
	const {ip, bridge, nft, nsenter} = {ip: findTool('ip'), bridge: findTool('bridge'), nft: findTool('nft'), nsenter: findTool('nsenter')};
	if (ip !== undefined && bridge !== undefined && nft !== undefined && nsenter !== undefined)
		return {ip, bridge, nft, nsenter, iptables: findTool('iptables'), conntrack: findTool('conntrack')};
	const found = {ip, bridge, nft, nsenter};
	const missing = Object.entries(needed).filter(([name]) => found[name as keyof typeof needed] === undefined);
	return `this host has no ${missing.map(([name, of]) => `${name} (${of})`).join(' and no ')}`;
}

/** What it wrote. Rejects with an Error in its words. */
export const call = (tool: string, words: readonly string[], input = ''): Promise<string> =>
	new Promise((resolve, reject) => {
		const child = execFile(
			tool,
			words,
			{cwd: '/', env: {}, timeout: limits.networkCallMs, killSignal: 'SIGKILL', maxBuffer: limits.networkCallBytes},
			(error, stdout, stderr) => {
				if (error === null) resolve(stdout);
				else reject(new Error(`${[tool, ...words].join(' ')}: ${stderr.trim().split('\n')[0] || error.message}`));
			},
		);
		// One that does not read what it is given ends with an exit code.
		child.stdin?.on('error', () => undefined);
		child.stdin?.end(input);
	});

/** Lines as one call; ip(8) and bridge(8) end with the first that fails, or go on with the others. Rejects as above. */
export const batch = async (
	tool: string,
	lines: readonly string[],
	{namespace, goesOn = false}: {readonly namespace?: string; readonly goesOn?: boolean} = {},
): Promise<void> => {
	if (lines.length === 0) return;
	const words = [...(namespace === undefined ? [] : ['-netns', namespace]), ...(goesOn ? ['-force'] : []), '-batch', '-'];
	await call(tool, words, `${lines.join('\n')}\n`);
};
