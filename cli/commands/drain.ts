// `troupe drain`: a node takes no new pods and gives up those it has; done when they are gone. Safe to repeat.

import {parseDuration} from '../../api/duration.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Client} from '../client.js';
import {failedError, interruptedExitCode, type Flags, type Invocation, usageError} from '../command.js';
import {setCordon} from '../objects/cordon.js';
import {choosePods, podName} from '../drain/choose.js';
import {evictAll, evictOne, podsOf, type DrainOptions, type DrainProgress, type Watcher} from '../drain/evict.js';
import {listAll} from '../cluster/lists.js';
import {chosenNames, dryRunText, getNode, nodeChoice} from '../objects/nodes.js';
import {oneByOne} from '../objects/one-by-one.js';
import {withProgress} from '../screen/progress.js';
import {resourceOf} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';
import {deadlineOf, noDeadline, type Deadline} from '../objects/wait.js';

/** A node under way, for a person who interrupts. */
type Under = {readonly name: string; progress: DrainProgress};

/** What the drain of each node has. */
type Draining = {
	readonly client: Client;
	readonly terminal: Terminal;
	readonly options: DrainOptions;
	readonly deadline: Deadline;
	/** All that are under way. */
	readonly under: Under[];
};

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags, terminal} = invocation;
	const choice = nodeChoice('drain', inputs, flags);
	const options = optionsOf(flags);
	const timeout = flags.text('timeout');
	const deadline = timeout === undefined || parseDuration(timeout) === 0 ? noDeadline : deadlineOf(timeout);
	const under: Under[] = [];
	process.once('SIGINT', () => {
		for (const line of under.map(interruptedText)) terminal.note(line);
		process.exit(interruptedExitCode);
	});
	return withClient(invocation, async client => {
		const names = await chosenNames(client, choice);
		return oneByOne(names, name => drain({client, terminal, options, deadline, under}, name), terminal);
	});
}

function optionsOf(flags: Flags): DrainOptions {
	const grace = flags.number('grace-period') ?? -1;
	if (!Number.isSafeInteger(grace) || grace < -1)
		throw usageError(`--grace-period must be a whole number of seconds, or -1 for what each pod asks for, got ${grace}`);
	return {
		force: flags.on('force'),
		deleteEmptyDirData: flags.on('delete-emptydir-data'),
		ignoreDaemonSets: flags.on('ignore-daemonsets'),
		graceSeconds: grace === -1 ? undefined : grace,
		podSelector: flags.text('pod-selector'),
		disableEviction: flags.on('disable-eviction'),
		dryRun: flags.on('dry-run'),
	};
}

async function drain(draining: Draining, name: string): Promise<void> {
	const {client, terminal, options} = draining;
	await getNode(client, name);
	const {evict, leave, refusals} = choosePods(await podsNow(client, name, options), options);
	// Before anything is changed: what is refused leaves the node as it was.
	if (refusals.length > 0) throw failedError(`node "${name}" is not drained, nothing was changed:\n${refusals.join('\n')}`);
	terminal.out(`${await setCordon(client, name, 'cordon', options.dryRun)}\n`);
	if (leave.length > 0) terminal.note(`left alone, of a DaemonSet: ${leave.map(podName).join(', ')}`);
	await (options.dryRun ? tryAll(draining, evict) : giveUp(draining, name, evict));
	terminal.out(`node/${name} drained${dryRunText(options.dryRun)}\n`);
}

const podsNow = async (client: Client, name: string, options: DrainOptions): Promise<readonly Pod[]> =>
	(await listAll(client, resourceOf('pods'), undefined, podsOf(name, options))) as readonly Pod[];

async function tryAll({client, terminal, options, deadline}: Draining, evict: readonly Pod[]): Promise<void> {
	for (const pod of evict) {
		const held = await evictOne(client, pod, options, deadline);
		terminal.out(`pod/${pod.metadata.name} ${held === undefined ? 'evicted' : `not evicted: ${held.cause}`} (dry run)\n`);
	}
}

async function giveUp({client, terminal, options, deadline, under}: Draining, name: string, known: readonly Pod[]): Promise<void> {
	const own: Under = {name, progress: {total: known.length, gone: 0, left: known.map(podName)}};
	under.push(own);
	try {
		await withProgress(terminal, `draining node ${name}`, shown => {
			const watcher: Watcher = {
				onHeld: (pod, cause) => terminal.note(`pod/${pod.metadata.name} waits: ${cause}`),
				onGone: pod => terminal.out(`pod/${pod.metadata.name} evicted\n`),
				onProgress(now) {
					own.progress = now;
					shown.show(`draining node ${name}: evicted ${now.gone}/${now.total}`, waitingText(now.left));
				},
			};
			return evictAll(client, {node: name, known}, options, watcher, deadline);
		});
	} catch (error) {
		if (error instanceof Error) error.message = `draining node "${name}": ${error.message}\n${staysText(name)}`;
		throw error;
	} finally {
		under.splice(under.indexOf(own), 1);
	}
}

const shownPods = 3;

const waitingText = (left: readonly string[]): string =>
	left.length === 0
		? ''
		: `  waiting for ${left.slice(0, shownPods).join(', ')}${left.length > shownPods ? ` and ${left.length - shownPods} more` : ''}`;

const staysText = (name: string): string => `node "${name}" stays cordoned; troupe uncordon ${name} lets pods in again`;

const interruptedText = ({name, progress}: Under): string =>
	`interrupted: ${progress.gone} of ${progress.total} pods are gone; ${staysText(name)}`;
