// What the host as a whole is set to for the sake of its pods: it passes packets on, and has our table and our chain.

import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {chainText, rulesText, type Rules} from './rules.js';
import {isTableOfAgent, type Names} from './names.js';
import {call, type NetworkTools} from './tools.js';

export const forwardFile = '/proc/sys/net/ipv4/ip_forward';

/** Says that something of ours may be in the kernel, and what the host was set to before. There before anything is made, gone after all is removed. */
export const markFile = (folder: string): string => `${folder}/pod-network`;

export const isMarked = (folder: string): boolean => existsSync(markFile(folder));

/**
 * Has the host pass on packets. `folder` is there. True: it does so for us alone. Of several agents of a host the first finds it off and says so in the
 * kernel, where the others find it: each may be the last, which turns it off again. Rejects with errno exceptions, and as `call`.
 */
export async function beginForwarding(tools: NetworkTools, names: Names, folder: string): Promise<boolean> {
	const now = readFileSync(forwardFile, 'utf8').trim();
	if (!isMarked(folder)) {
		const isForAgents = (await tablesOfAgents(tools)).some(table => table.startsWith(offTables));
		writeFileSync(markFile(folder), `${isForAgents ? '0' : now}\n`, {mode: 0o600, flush: true});
	}
	const wasOff = isOffIn(folder);
	if (wasOff) await call(tools.nft, ['--file', '-'], `table inet ${names.offTable} {}\n`);
	if (now !== '1') writeFileSync(forwardFile, '1');
	return wasOff;
}

/**
 * As it was before, unless the host has bridges, whose maker may need it by now, or pods of another agent. Once the rules are gone. Rejects with errno
 * exceptions, and as `call`.
 */
export async function endForwarding(tools: NetworkTools, names: Names, folder: string): Promise<void> {
	if (!isMarked(folder)) return;
	await removeTable(tools, names.offTable);
	const isNeeded = async (): Promise<boolean> =>
		(await tablesOfAgents(tools)).length > 0 || (await call(tools.ip, ['-oneline', 'link', 'show', 'type', 'bridge'])).trim() !== '';
	if (isOffIn(folder) && !(await isNeeded())) writeFileSync(forwardFile, '0');
	rmSync(markFile(folder), {force: true});
}

const offTables = 'troupe-off-';

const isOffIn = (folder: string): boolean => readFileSync(markFile(folder), 'utf8').trim() === '0';

const tablesOfAgents = async ({nft}: NetworkTools): Promise<readonly string[]> =>
	(await call(nft, ['list', 'tables', 'inet'])).split(/\s+/).filter(isTableOfAgent);

const removeTable = async ({nft}: NetworkTools, table: string): Promise<void> => {
	await call(nft, ['--file', '-'], `table inet ${table} {}\ndelete table inet ${table}\n`);
};

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

export const removeRules = async (tools: NetworkTools, {table, services}: Names): Promise<void> => {
	for (const each of [table, services]) await removeTable(tools, each);
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
