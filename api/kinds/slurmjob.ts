// The kind SlurmJob: what is compiled and run on an HPC system.

import {parseArrayIndexes} from '../array-indexes.js';
import {ageColumn, column, nameColumn, none, numberColumn, wideColumn} from '../columns/common.js';
import {parseDuration} from '../duration.js';
import {deepEqual} from '../equal.js';
import {isArtifactDigest} from '../function-instance.js';
import type {KindDefinition} from '../kind.js';
import {limits} from '../limits.js';
import {isFingerprint, sshPlaceOf, sshPlaceWords} from '../login-node.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {memoryBytes} from '../quantity.js';
import {checkDnsSubdomain} from '../rules/names.js';
import {checkProgramText, checkProgramTexts} from '../rules/program-text.js';
import {forbid, itemsOf, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/slurmjob.js';
import {shown} from '../shown.js';
import {isSlurmEnd} from '../slurm-phase.js';

export type SlurmJobSpec = ShapeOf<typeof spec>;
export type SlurmJobStatus = ShapeOf<typeof status>;
export type SlurmJob = ApiObject<SlurmJobSpec, SlurmJobStatus>;

const asJob = (object: ApiObject): SlurmJob => object as SlurmJob;

export const slurmJob: KindDefinition = {
	kind: 'SlurmJob',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'slurmjobs',
	singular: 'slurmjob',
	shortNames: ['sj'],
	categories: ['all'],
	namespaced: true,
	ownsStatus: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as SlurmJobSpec)}),
	validate,
	initialStatus: () => ({phase: 'Pending'}),
	underWay: object => {
		const phase = slurmPhaseOf(asJob(object));
		return isSlurmEnd(phase) ? undefined : phase.toLowerCase();
	},
	columns: [
		nameColumn,
		column('Phase', 'How far it is.', object => slurmPhaseOf(asJob(object))),
		column('Job', 'The number that Slurm has given it.', object => asJob(object).status?.jobId ?? none),
		column('State', 'How Slurm has it.', object => asJob(object).status?.state ?? none),
		column('Reason', 'Why it is so.', object => reasonOf(asJob(object)) ?? none),
		ageColumn,
		wideColumn('Partition', 'The partition of the HPC system.', object => asJob(object).spec?.partition ?? none),
		{...numberColumn('Tasks', 'How many tasks.', object => asJob(object).spec?.nTasks ?? 1), priority: 1},
		{...numberColumn('GPUs', 'How many GPUs.', object => asJob(object).spec?.gpuNums ?? 0), priority: 1},
		wideColumn('Host', 'Where it is submitted.', object => asJob(object).status?.host ?? asJob(object).spec?.submitHost ?? none),
	],
};

export const slurmPhaseOf = ({status}: SlurmJob): NonNullable<SlurmJobStatus['phase']> => status?.phase ?? 'Pending';

/** Of one that waits: in which place; else what its end or Slurm says. */
function reasonOf({status}: SlurmJob): string | undefined {
	if (status?.outcome !== undefined) return status.outcome.reason;
	const held = status?.conditions?.find(({type, status: is}) => type === 'Reachable' && is === 'False');
	if (held !== undefined) return held.reason;
	return status?.queuePosition === undefined ? status?.reason : `${status.reason ?? 'None'} (${status.queuePosition})`;
}

/** The files of a job: an array has one of each for an index. */
export const outputFileOf = ({outputFile, array}: SlurmJobSpec): string =>
	outputFile ?? (array === undefined ? 'slurm.out' : 'slurm-%a.out');

/** How many jobs of Slurm it is. */
export const jobsIn = ({array}: SlurmJobSpec): number => (array === undefined ? 1 : (parseArrayIndexes(array)?.indexes.length ?? 1));

/** Whether the results are kept no more. */
export const haveExpired = (status: SlurmJobStatus | undefined, nowMs: number): boolean =>
	status?.expiresAt !== undefined && Date.parse(status.expiresAt) <= nowMs;

/** The entries of the Secret that the door makes of a password are in it. */
export const passwordSecretOf = (job: string): string => `${job}-ssh`;

/** A password never gets into a record: the door has put it into a Secret before. */
function withDefaults({password: _never, ...spec}: SlurmJobSpec): SlurmJobSpec {
	return {...spec, nTasks: spec.nTasks ?? 1};
}

/** Each stands in a line of the batch script, where nothing can be quoted. */
const words = ['partition', 'account', 'qos'];
const files = ['outputFile', 'errorFile'];
const scripts = ['compileCommands', 'runCommands'];
/** All else says what has been given to Slurm by then. */
const changeable: ReadonlySet<string> = new Set(['secretName', 'hostKey', 'password']);

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	for (const field of words) checkWord(found, `spec.${field}`, spec[field]);
	for (const field of files) checkFile(found, `spec.${field}`, spec[field]);
	itemsOf(spec['modules']).forEach((module, at) => checkModule(found, `spec.modules[${at}]`, module));
	for (const field of scripts) checkProgramTexts(found, `spec.${field}`, spec[field]);
	checkEnv(found, itemsOf(spec['env']));
	checkResults(found, itemsOf(spec['resultFiles']));
	checkAccess(found, spec);
	checkSizes(found, spec);
	checkArray(found, spec);
	checkSources(found, spec);
	if (old !== undefined) checkUnchanged(found, spec, asJob(old));
}

function checkWord(found: Found, path: string, value: unknown): void {
	if (typeof value === 'string' && !/^[A-Za-z0-9][-\w.,]{0,199}$/.test(value))
		refuse(found, path, `must be letters, digits, "-", "_", "." and ",", got ${shown(value)}`);
}

function checkModule(found: Found, path: string, value: unknown): void {
	if (typeof value === 'string' && !/^[A-Za-z0-9][-\w.+/]{0,199}$/.test(value))
		refuse(found, path, `must be the name of a module, such as cuda/12.4, got ${shown(value)}`);
}

/** In the folder of the job, and of characters that mean the same to Slurm and to a shell. */
export const isJobFile = (text: string): boolean =>
	text.length <= limits.slurmFileCharacters &&
	/^[\w%+=@,.-]+(\/[\w%+=@,.-]+)*$/.test(text) &&
	text.split('/').every(name => name !== '..' && name !== '.' && !name.startsWith('-'));

const fileWords = 'must be a path in the folder of the job, of letters, digits and "._-+=@,%/"';

function checkFile(found: Found, path: string, value: unknown): void {
	if (typeof value !== 'string') return;
	if (!isJobFile(value)) refuse(found, path, `${fileWords}, got ${shown(value)}`);
	else if (/%(?!a)/.test(value)) refuse(found, path, `may have %a, for the index of an array, and no other pattern, got ${shown(value)}`);
}

function checkResults(found: Found, patterns: readonly unknown[]): void {
	if (patterns.length > limits.slurmResultFiles)
		refuse(found, 'spec.resultFiles', `must be at most ${limits.slurmResultFiles}, got ${patterns.length}`);
	patterns.forEach((pattern, at) => {
		if (typeof pattern === 'string' && !isJobFile(pattern.replaceAll('*', 'x')))
			refuse(found, `spec.resultFiles[${at}]`, `${fileWords} and "*", got ${shown(pattern)}`);
	});
}

function checkEnv(found: Found, variables: readonly unknown[]): void {
	variables.forEach((variable, at) => {
		const {name, value} = membersOf(variable);
		const path = `spec.env[${at}]`;
		if (typeof name === 'string' && !/^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name))
			refuse(found, `${path}.name`, `must be letters, digits and "_", got ${shown(name)}`);
		if (typeof value === 'string') checkProgramText(found, `${path}.value`, value);
	});
}

function checkAccess(found: Found, spec: JsonObject): void {
	const host = textOf(spec['submitHost']);
	if (host !== undefined && host !== '' && sshPlaceOf(host) === undefined)
		refuse(found, 'spec.submitHost', `${sshPlaceWords}, got ${shown(host)}`);
	const username = textOf(spec['username']);
	if (username !== undefined && username !== '' && !/^[A-Za-z0-9_][-\w.@\\]{0,99}$/.test(username))
		refuse(found, 'spec.username', `must be the name of a login, got ${shown(username)}`);
	const secretName = textOf(spec['secretName']);
	if (secretName !== undefined) checkDnsSubdomain(found, 'spec.secretName', secretName);
	const hostKey = textOf(spec['hostKey']);
	if (hostKey !== undefined && !isFingerprint(hostKey))
		refuse(found, 'spec.hostKey', `must be SHA256: and 43 characters, as ssh-keygen -l prints it, got ${shown(hostKey)}`);
}

function checkSizes(found: Found, spec: JsonObject): void {
	const {memory, timeLimit} = spec;
	if (typeof memory === 'string' || typeof memory === 'number') {
		const bytes = memoryBytes(memory);
		if (bytes === undefined || bytes < 1_048_576 || bytes > limits.resourceAmount)
			refuse(found, 'spec.memory', `must be a quantity of 1Mi to 1Pi, such as 4Gi, got ${shown(memory)}`);
	}
	if (typeof timeLimit === 'string') {
		const ms = parseDuration(timeLimit);
		if (ms === undefined || ms < 1_000 || ms > limits.slurmTimeLimitMs)
			refuse(found, 'spec.timeLimit', `must be a length of time from 1s to a year, such as 90m, got ${shown(timeLimit)}`);
	}
}

function checkArray(found: Found, spec: JsonObject): void {
	const array = textOf(spec['array']);
	if (array === undefined) return;
	const indexes = parseArrayIndexes(array);
	if (indexes === undefined)
		refuse(found, 'spec.array', `must be indexes such as 0-19 or 1,3,5-9, at most ${limits.slurmArrayJobs}, got ${shown(array)}`);
	for (const field of files) {
		const file = textOf(spec[field]);
		if (file !== undefined && !file.includes('%a'))
			refuse(found, `spec.${field}`, `must have %a in it: each job of an array has a file of its own, got ${shown(file)}`);
	}
}

function checkSources(found: Found, {submitDirectory, artifact}: JsonObject): void {
	if (typeof submitDirectory === 'string') checkProgramText(found, 'spec.submitDirectory', submitDirectory);
	if (artifact !== undefined && !isArtifactDigest(artifact))
		refuse(found, 'spec.artifact', 'must be sha256: and 64 hexadecimal digits; troupe apply sets it when it has uploaded the folder');
}

function checkUnchanged(found: Found, spec: JsonObject, old: SlurmJob): void {
	if (slurmPhaseOf(old) === 'Pending') return;
	const before = membersOf(old.spec);
	for (const field of new Set([...Object.keys(spec), ...Object.keys(before)]))
		if (!changeable.has(field) && !deepEqual(spec[field], before[field]))
			forbid(found, `spec.${field}`, 'cannot be changed once the job has begun: delete it, or make another one');
}
