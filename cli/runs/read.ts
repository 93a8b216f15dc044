// Runs as the cluster tells of them: the object, what is under way, the definition that it goes by, and its history.

import {AppError} from '../../api/errors.js';
import {controllerRevision, type ControllerRevision} from '../../api/kinds/controllerrevision.js';
import {historyIn, run as runKind, type Run} from '../../api/kinds/run.js';
import {workflow as workflowKind, type Workflow} from '../../api/kinds/workflow.js';
import type {Json} from '../../api/object.js';
import {membersOf} from '../../api/rules/report.js';
import {runHistoryPath, runPath} from '../../api/run-paths.js';
import type {Definition} from '../../api/states-language/definition.js';
import {readDefinition} from '../../api/states-language/validation/definition.js';
import type {RunLook} from '../../server/http/runs.js';
import type {HistoryPage, HistoryRecord} from '../../server/workflows/run-history.js';
import type {Client} from '../client.js';
import {getOne} from '../cluster/lists.js';
import {failedError} from '../command.js';
import {isOver} from './named.js';

/** One run of one namespace. */
export type RunPlace = {readonly namespace: string; readonly name: string};

export const readRun = async (client: Client, {namespace, name}: RunPlace): Promise<Run> =>
	(await getOne(client, runKind, namespace, name)) as Run;

/** What is under way of it. Throws ERR_NOT_FOUND. */
export const lookAtRun = async (client: Client, {namespace, name}: RunPlace): Promise<RunLook> =>
	(await client.json({path: runPath(encodeURIComponent(namespace), encodeURIComponent(name))})) as RunLook;

/** Its history from a number on, a page at a time. */
export async function* historyOf(client: Client, {namespace, name}: RunPlace, from = 0): AsyncGenerator<readonly HistoryRecord[]> {
	const path = runHistoryPath(encodeURIComponent(namespace), encodeURIComponent(name));
	for (let at: number | undefined = from; at !== undefined;) {
		const page = (await client.json({path, query: {from: at}})) as HistoryPage;
		yield page.records;
		at = page.next;
	}
}

/** The last records of its history, at most so many, and the number of the first of them. */
export async function lastOf(
	client: Client,
	run: Run,
	most: number,
): Promise<{readonly from: number; readonly records: readonly HistoryRecord[]}> {
	const from = Math.max(0, historyIn(run).records - most);
	const records: HistoryRecord[] = [];
	for await (const page of historyOf(client, placeOf(run), from)) {
		records.push(...page);
		// It may go on faster than it is read.
		if (records.length >= most) break;
	}
	return {from, records};
}

/** Whether a run that is over has a history, and none of it was found: the file that has it is another server's, or went since there were too many. */
export const isHistoryMissing = (run: Run, found: number): boolean => found === 0 && isOver(run) && historyIn(run).records > 0;

export const placeOf = ({metadata}: Run): RunPlace => ({namespace: metadata.namespace ?? '', name: metadata.name});

export type KnownDefinition = {
	readonly definition: Definition;
	/** Of the workflow; undefined where it has none yet. */
	readonly revision: number | undefined;
};

/** The definition of a run: that of its revision, or of its workflow where it has not begun. Undefined: that is not there. */
export async function definitionOfRun(client: Client, {metadata, spec, status}: Run): Promise<KnownDefinition | undefined> {
	const {namespace = ''} = metadata;
	if (status?.revisionName === undefined) return unlessMissing(definitionOfWorkflow(client, namespace, spec?.workflow ?? ''));
	const revision = await unlessMissing(getOne(client, controllerRevision, namespace, status.revisionName));
	if (revision === undefined) return undefined;
	const {data, revision: number} = revision as ControllerRevision;
	const definition = readAs(membersOf(data)['definition'], `the revision "${status.revisionName}"`);
	return {definition: spec?.startAt === undefined ? definition : {...definition, StartAt: spec.startAt}, revision: number};
}

async function definitionOfWorkflow(client: Client, namespace: string, name: string): Promise<KnownDefinition> {
	const {spec, status} = (await getOne(client, workflowKind, namespace, name)) as Workflow;
	return {definition: readAs(spec?.definition, `the workflow "${name}"`), revision: status?.revision};
}

/** That of a workflow; undefined where this program cannot read it. */
export function definitionIn({spec}: Workflow): Definition | undefined {
	const read = readDefinition(spec?.definition ?? null);
	return read.ok ? read.definition : undefined;
}

function readAs(value: Json | undefined, of: string): Definition {
	const read = readDefinition(value ?? null);
	if (read.ok) return read.definition;
	throw failedError(`${of} has no definition that this program can read: ${read.problems[0]?.message ?? ''}`);
}

async function unlessMissing<Value>(value: Promise<Value>): Promise<Value | undefined> {
	try {
		return await value;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') return undefined;
		throw error;
	}
}
