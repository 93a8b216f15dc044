// `troupe set`: images, variables and resources of the containers that an object's pods are made of.

import {AppError} from '../../api/errors.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {checkHere, filesOf} from '../apply/check.js';
import {objectsNamed} from '../apply/named.js';
import {dryRunOf, reportOf, tellOfOne} from '../apply/written.js';
import {changeObject} from '../cluster/changes.js';
import type {Client} from '../client.js';
import {getOne} from '../cluster/lists.js';
import {displayName, readTarget} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {readAssignments, type Assignments} from '../objects/assignments.js';
import {containersOf, containersPatch, type ContainerChange} from '../set/containers.js';
import {envChange, envLines, variablesFrom, variablesOf, type Source} from '../set/env.js';
import {imageChange} from '../set/image.js';
import {resourcesChange} from '../set/resources.js';

/** By the word after `set`: what is said of an object that was changed, and of one that is so already. */
const done = {
	image: ['image updated', 'image unchanged'],
	env: ['env updated', 'env unchanged'],
	resources: ['resource requirements updated', 'resource requirements unchanged'],
} as const;

type Part = keyof typeof done;

/** A whole command line. */
type Wish = {readonly part: Part; readonly words: readonly string[]; readonly wanted: Assignments; readonly flags: Flags};

export async function run(invocation: Invocation): Promise<number> {
	const wish = wishOf(invocation);
	if (invocation.flags.on('local')) return changeFiles(invocation, wish);
	return withClient(invocation, async client => {
		const source = await sourceOf(invocation, client);
		const chosen = await objectsNamed(invocation, client, wish.words, `set ${wish.part} of which`);
		if ('exitCode' in chosen) return chosen.exitCode;
		const {flags, terminal} = invocation;
		if (chosen.objects.length === 0) terminal.note('No resources found');
		const report = reportOf(terminal, flags, chosen.isOne);
		let exitCode = 0;
		for (const one of chosen.objects) {
			const subject = displayName(one.resource, one.name);
			try {
				if (flags.on('list')) {
					const object = await getOne(client, one.resource, one.namespace, one.name);
					terminal.out(linesOf(object as unknown as JsonObject, subject, flags));
					continue;
				}
				const change = changeOf(wish, source);
				const patchOf = (live: ApiObject) => containersPatch(live as unknown as JsonObject, subject, change);
				const {object, isChanged} = await changeObject(client, one, patchOf, dryRunOf(flags) !== undefined);
				report.say(one.resource, object, done[wish.part][isChanged ? 0 : 1]);
			} catch (error) {
				exitCode = Math.max(exitCode, await tellOfOne(client, error, terminal));
			}
		}
		if (!flags.on('list')) await report.end();
		return exitCode;
	});
}

/** What the words say, looked at before a cluster is asked. Throws ERR_USAGE. */
function wishOf({flags, inputs}: Invocation): Wish {
	const [part = '', ...rest] = inputs;
	if (!Object.hasOwn(done, part))
		throw usageError(`set what? ${Object.keys(done).join(', ')}; as in: troupe set image deployment/web web=nginx:2`);
	const wish = {part: part as Part, ...readAssignments(rest), flags};
	const own = flagsOf[wish.part];
	const wrong = flags.words.map(word => word.slice(2).split('=', 1)[0] ?? '').filter(flag => !own.includes(flag) && ownFlags.has(flag));
	if (wrong.length > 0) throw usageError(wrong.map(flag => `--${flag} is no flag of set ${part}`).join('\n'));
	if (wish.part === 'resources' && Object.keys(wish.wanted).length > 0)
		throw usageError('amounts go with --limits and --requests, as in: troupe set resources deployment/web --limits cpu=1,memory=1Gi');
	if (wish.part === 'env' && flags.text('from') === undefined && !flags.on('list') && Object.keys(wish.wanted).length === 0)
		throw usageError('set which variable? as in: troupe set env deployment/web KEY=VALUE, KEY- to remove it, or --from configmap/NAME');
	if (!flags.on('list')) changeOf(wish, undefined);
	return wish;
}

/** Flags that belong to one or two of the three. */
const flagsOf: {readonly [part in Part]: readonly string[]} = {
	image: [],
	env: ['container', 'from', 'prefix', 'keys', 'overwrite', 'list'],
	resources: ['container', 'limits', 'requests'],
};
const ownFlags = new Set(Object.values(flagsOf).flat());

function changeOf({part, wanted, flags}: Wish, source: Source | undefined): ContainerChange {
	switch (part) {
		case 'image':
			return imageChange(wanted);
		case 'env': {
			const from = source === undefined ? [] : variablesFrom(source);
			return envChange(new Map([...from, ...variablesOf(wanted)]), [flags.text('container') ?? '*'], flags.given('overwrite') !== false);
		}
		case 'resources':
			return resourcesChange(flags);
	}
}

const linesOf = (object: JsonObject, subject: string, flags: Flags): string =>
	containersOf(object, subject, [flags.text('container') ?? '*'])
		.map(container => envLines(subject, container))
		.join('');

/** `--from configmap/NAME` with the keys that it has, or those of `--keys`. */
async function sourceOf(invocation: Invocation, client: Client): Promise<Source | undefined> {
	const {flags} = invocation;
	const from = flags.text('from');
	if (from === undefined) return undefined;
	const {
		resource,
		names: [name = ''],
	} = readTarget(from);
	if (resource.kind !== 'ConfigMap' && resource.kind !== 'Secret') throw usageError(`--from is configmap/NAME or secret/NAME, got ${from}`);
	const {data = {}} = (await getOne(client, resource, namespaceOf(invocation, client), name)) as ApiObject & {readonly data?: object};
	const all = Object.keys(data);
	const wanted = flags.text('keys')?.split(',') ?? all;
	const missing = wanted.filter(key => !all.includes(key));
	if (missing.length > 0)
		throw new AppError('ERR_BAD_REQUEST', {
			message: `${displayName(resource, name)} has no key ${missing.join(', ')}; there are ${all.join(', ')}`,
		});
	return {kind: resource.kind === 'Secret' ? 'secret' : 'configMap', name, keys: wanted, prefix: flags.text('prefix') ?? ''};
}

/** `--local`: what files say is changed and shown, and no cluster is asked. */
async function changeFiles(invocation: Invocation, wish: Wish): Promise<number> {
	const {flags, terminal} = invocation;
	if (wish.words.length > 0) throw usageError('--local changes what the files of -f say; give no other objects');
	if (flags.text('from') !== undefined) throw usageError('--from asks the cluster, which --local does not');
	const manifests = await filesOf(invocation);
	const checked = await checkHere(invocation, manifests, true);
	if ('exitCode' in checked) return checked.exitCode;
	const report = reportOf(terminal, flags, checked.work.length === 1);
	for (const {resource, name, object} of checked.work) {
		const subject = displayName(resource, name);
		if (flags.on('list')) {
			terminal.out(linesOf(object, subject, flags));
			continue;
		}
		const patch = containersPatch(object, subject, changeOf(wish, undefined));
		const changed = patch === undefined ? object : (mergePatch(object, patch) as JsonObject);
		report.say(resource, changed as unknown as ApiObject, done[wish.part][patch === undefined ? 1 : 0]);
	}
	if (!flags.on('list')) await report.end();
	return 0;
}
