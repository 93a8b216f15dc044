// `troupe up`: its flags become options; the composition root does the rest, here or in the background.

import {hostname} from 'node:os';
import {controlSystem} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import {didYouMean} from '../../api/suggest.js';
import type {Flags, Invocation} from '../command.js';
import {detach} from '../detach.js';
import {parseHostPort, type HostPort, type UpOptions} from '../up-options.js';
import {usageError} from '../usage.js';

const loopback = '127.0.0.1';

export async function run({flags, home, inputs, terminal}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError(`up takes no names, got "${inputs.join(' ')}"`);
	const options = readUpOptions(flags, home, hostname());
	if (options.detach) return detach(options, terminal);
	const {runUp} = await import('../up.js');
	return runUp(options);
}

/** Checks every flag; all that is wrong is told at once. Throws ERR_USAGE. */
export function readUpOptions(flags: Flags, home: string, host: string): UpOptions {
	const problems: string[] = [];
	const later = (flag: string) => problems.push(`--${flag} comes in a later version`);
	if (flags.text('docker') !== undefined) later('docker');
	if (flags.text('broker') !== undefined) later('broker');
	if (flags.texts('host-paths').length > 0) later('host-paths');
	const simulatedNodes = flags.number('simulated-nodes') ?? 0;
	if (!Number.isSafeInteger(simulatedNodes) || simulatedNodes < 0 || simulatedNodes > limits.simulatedNodes)
		problems.push(`--simulated-nodes must be a whole number from 0 to ${limits.simulatedNodes}, got ${simulatedNodes}`);
	const options: UpOptions = {
		home,
		api: listenOn(flags, 'api', 6443, problems),
		web: listenOn(flags, 'web', 7070, problems),
		mqtt: listenOn(flags, 'mqtt', 1883, problems),
		runtime: wordOf(flags, 'runtime', ['auto', 'process', 'simulated'] as const, ['docker'], problems),
		store: wordOf(flags, 'store', ['level', 'memory'] as const, ['etcd'], problems),
		node: nodeName(flags.text('node') ?? host, problems),
		simulatedNodes,
		detach: flags.on('detach'),
	};
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return options;
}

function listenOn(flags: Flags, name: string, defaultPort: number, problems: string[]): HostPort {
	const text = flags.text(name);
	const fallback = {host: loopback, port: defaultPort};
	if (text === undefined) return fallback;
	const parsed = parseHostPort(text, loopback);
	if (parsed === undefined) problems.push(`--${name} must be HOST:PORT such as ${loopback}:${defaultPort}, got "${text}"`);
	return parsed ?? fallback;
}

/** One of a few words; the first is the default, `later` are known and not there yet (`etcd://…` by its scheme). */
function wordOf<Word extends string>(
	flags: Flags,
	name: string,
	words: readonly [Word, ...Word[]],
	later: readonly string[],
	problems: string[],
): Word {
	const text = flags.text(name);
	const found = words.find(word => word === text);
	if (text !== undefined && found === undefined) {
		const isLater = later.some(word => text === word || text.startsWith(`${word}:`));
		problems.push(
			isLater
				? `--${name} ${text} comes in a later version`
				: `--${name} must be ${words.join(' or ')}, got "${text}"${didYouMean(text, words)}`,
		);
	}
	return found ?? words[0];
}

/** A node's name is part of addresses and topics: a DNS name (RFC 1123), lower case. A host's own name is made to fit. */
function nodeName(name: string, problems: string[]): string {
	const lower = name.toLowerCase();
	if (!isDnsSubdomain(lower)) problems.push(`--node must be lower-case letters, digits, "-" and "." (RFC 1123), got "${name}"`);
	else if (lower === controlSystem) problems.push(`--node ${controlSystem} is taken: it is the name of the control plane`);
	return lower;
}
