// The kind SlurmJob: what is compiled and run on an HPC system.

import {ageColumn, column, nameColumn, none, numberColumn, wideColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkProgramTexts} from '../rules/program-text.js';
import {checkDnsSubdomain} from '../rules/names.js';
import {forbid, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/slurmjob.js';
import {shown} from '../shown.js';

export type SlurmJobSpec = ShapeOf<typeof spec>;
export type SlurmJob = ApiObject<SlurmJobSpec, ShapeOf<typeof status>>;

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
	isInert: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as SlurmJobSpec)}),
	validate,
	initialStatus: () => ({}),
	columns: [
		nameColumn,
		column('Partition', 'The partition of the HPC system.', object => asJob(object).spec?.partition ?? none),
		numberColumn('Tasks', 'How many tasks.', object => asJob(object).spec?.nTasks ?? 1),
		numberColumn('GPUs', 'How many GPUs.', object => asJob(object).spec?.gpuNums ?? 0),
		column('State', 'How the HPC system has it.', object => asJob(object).status?.state ?? none),
		ageColumn,
		wideColumn('Host', 'Where it is submitted.', object => asJob(object).spec?.submitHost || none),
	],
};

const withDefaults = (spec: SlurmJobSpec): SlurmJobSpec => ({...spec, nTasks: spec.nTasks ?? 1});

/** Each stands in one line of the batch script, or of a command. */
const lines = ['submitDirectory', 'submitHost', 'outputFile', 'errorFile', 'username'];
const scripts = ['compileCommands', 'runCommands'];

function validate(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	const partition = textOf(spec['partition']);
	if (partition !== undefined && !/^[A-Za-z0-9][-\w.]*$/.test(partition))
		refuse(found, 'spec.partition', `must be letters, digits, "-", "_" and ".", got ${shown(partition)}`);
	for (const field of lines) {
		const text = textOf(spec[field]);
		if (text !== undefined && /[\0\r\n]/.test(text)) refuse(found, `spec.${field}`, 'must be one line, without a NUL character');
	}
	for (const field of scripts) checkProgramTexts(found, `spec.${field}`, spec[field]);
	if (spec['password'] !== undefined)
		forbid(found, 'spec.password', 'a password is not taken in a manifest: put it into a Secret, and name that in spec.secretName');
	const secretName = textOf(spec['secretName']);
	if (secretName !== undefined) checkDnsSubdomain(found, 'spec.secretName', secretName);
}
