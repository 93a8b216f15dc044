// The graph of a definition as DOT or SVG, with what a run has gone through of it.

import {historyIn, run as runKind, type Run} from '../../api/kinds/run.js';
import {workflow as workflowKind, type Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {RunNews} from '../../actors/workflows/run.js';
import type {Client} from '../client.js';
import {failedError, usageError} from '../command.js';
import {dotOf} from './dot.js';
import {goneThrough, graphOf, type Graph} from './graph.js';
import {definitionIn, definitionOfRun, historyOf, lookAtRun, placeOf} from './read.js';
import {svgOf} from './svg.js';

export type Drawing = 'dot' | 'svg';

const draw = (form: Drawing, name: string, graph: Graph): string => (form === 'dot' ? dotOf(name, graph) : svgOf(name, graph));

/** Throws where it has no definition yet. */
async function drawRun(client: Client, run: Run, form: Drawing): Promise<string> {
	const known = await definitionOfRun(client, run);
	if (known === undefined)
		throw failedError(`run/${run.metadata.name} has no definition: its workflow, or the revision of it, is not there`);
	const {states, more} = await lookAtRun(client, placeOf(run));
	const gone = goneThrough(await newsOf(client, run), states, more > 0 ? 'underWay' : 'failed');
	return draw(form, run.metadata.name, graphOf(known.definition, gone));
}

async function newsOf(client: Client, run: Run): Promise<readonly RunNews[]> {
	const news: RunNews[] = [];
	const from = Math.max(0, historyIn(run).records - limits.runGraphRecords);
	for await (const page of historyOf(client, placeOf(run), from)) for (const record of page) news.push(...record.news);
	return news;
}

/** Throws where its definition cannot be read. */
function drawWorkflow(workflow: Workflow, form: Drawing): string {
	const {name} = workflow.metadata;
	const definition = definitionIn(workflow);
	if (definition === undefined) throw failedError(`workflow/${name} has no definition that this program can read`);
	return draw(form, name, graphOf(definition));
}

/** What `-o dot` and `-o svg` show of an object. Throws ERR_USAGE for kinds that have no graph. */
export async function drawObject(client: Client, object: ApiObject, form: Drawing): Promise<string> {
	if (object.kind === runKind.kind) return drawRun(client, object as Run, form);
	if (object.kind === workflowKind.kind) return drawWorkflow(object as Workflow, form);
	throw usageError(`-o ${form} draws runs and workflows, and no ${object.kind}`);
}
