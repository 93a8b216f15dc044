// Runs and workflows as people name them on a command line: with and without their kind.

import {findKind} from '../../api/catalogue.js';
import {run, type Run} from '../../api/kinds/run.js';
import {workflow} from '../../api/kinds/workflow.js';
import type {KindDefinition} from '../../api/kind.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import {usageError} from '../command.js';

/** The name of a run: `NAME` or `run/NAME`. Throws ERR_USAGE. */
export const runNamed = (word: string): string => named(run, word);

/** The same of a workflow. */
export const workflowNamed = (word: string): string => named(workflow, word);

function named(kind: KindDefinition, word: string): string {
	const [first = '', second, ...more] = word.split('/');
	const isKind = second === undefined || findKind(first)?.kind === kind.kind;
	const name = second ?? first;
	if (!isKind || more.length > 0 || !isDnsSubdomain(name))
		throw usageError(`"${word}" names no ${kind.singular}; it is NAME or ${kind.singular}/NAME`);
	return name;
}

/** Whether it has come to an end, whichever. */
export const isOver = ({status}: Run): boolean => ['Succeeded', 'Failed', 'Cancelled'].includes(status?.phase ?? '');
