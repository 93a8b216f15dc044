// What the host as a whole is set to for the sake of its pods: it passes packets on, and has our table and our chain.

import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {chainText, rulesText, type Rules} from './rules.js';
import type {Names} from './names.js';
import {call, type NetworkTools} from './tools.js';

const forwardFile = '/proc/sys/net/ipv4/ip_forward';

/** Says that something of ours may be in the kernel, and what the host was set to before. There before anything is made, gone after all is removed. */
export const markFile = (folder: string): string => `${folder}/pod-network`;

export const isMarked = (folder: string): boolean => existsSync(markFile(folder));

/** Has the host pass on packets. `folder` is there. True: it did not before. Throws errno exceptions. */
export function beginForwarding(folder: string): boolean {
	const before = readFileSync(forwardFile, 'utf8').trim();
	if (!isMarked(folder)) writeFileSync(markFile(folder), `${before}\n`, {mode: 0o600, flush: true});
	if (before !== '1') writeFileSync(forwardFile, '1');
	return before !== '1';
}

/** As it was before, unless the host has bridges: whoever has made those may need it by now. Throws errno exceptions; rejects as `call`. */
export async function endForwarding({ip}: NetworkTools, folder: string): Promise<void> {
	if (!isMarked(folder)) return;
	const wasOff = readFileSync(markFile(folder), 'utf8').trim() === '0';
	if (wasOff && (await call(ip, ['-oneline', 'link', 'show', 'type', 'bridge'])).trim() === '') writeFileSync(forwardFile, '0');
	rmSync(markFile(folder), {force: true});
}

/** Puts the table in place of the one there is. Rejects as `call`. */
export const writeRules = async ({nft}: NetworkTools, names: Names, rules: Rules): Promise<void> => {
	await call(nft, ['--file', '-'], rulesText(names, rules));
};

/** Whether a table is there: other programs empty all tables at times. Asked by one of its sets, since to list it all takes long. */
export const hasTable = ({nft}: NetworkTools, table: string, set: string): Promise<boolean> =>
	call(nft, ['--terse', 'list', 'set', 'inet', table, set]).then(
		() => true,
		() => false,
	);

export const removeRules = async ({nft}: NetworkTools, {table, services}: Names): Promise<void> => {
	await call(
		nft,
		['--file', '-'],
		[table, services]
			.map(
				name => `table inet ${name} {}
delete table inet ${name}
`,
			)
			.join(''),
	);
};

/** Docker has iptables drop what passes through a host: what is to be accepted has to be so there, too. Rejects as `call`. */
export async function openForward({iptables}: NetworkTools, names: Names): Promise<void> {
	if (iptables === undefined) return;
	await call(`${iptables}-restore`, ['--wait', '--noflush'], chainText(names));
	const jump = ['FORWARD', '--jump', names.chain];
	await call(iptables, ['--wait', '--check', ...jump]).catch(() => call(iptables, ['--wait', '--insert', ...jump]));
}

export async function closeForward({iptables}: NetworkTools, {chain}: Names): Promise<void> {
	if (iptables === undefined) return;
	const isThere = await call(iptables, ['--wait', '--list-rules', chain]).then(
		() => true,
		() => false,
	);
	if (!isThere) return;
	await call(iptables, ['--wait', '--delete', 'FORWARD', '--jump', chain]).catch(() => undefined);
	await call(iptables, ['--wait', '--flush', chain]);
	await call(iptables, ['--wait', '--delete-chain', chain]);
}
