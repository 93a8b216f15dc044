// Rules of a Workflow and its runs: its name, its definition as a whole, what its Tasks call, what starts runs, and what they begin with.

import type {Json} from '../object.js';
import {dataProblem} from '../states-language/data-bounds.js';
import {readDefinition} from '../states-language/validation/definition.js';
import {parseTaskResource} from '../task-resource.js';
import {isDnsSubdomain, isLabelValue} from './names.js';
import {refuse, textOf, type Found} from './report.js';
import {checkTriggers} from './triggers.js';
import {shown} from '../shown.js';
import {parsedJson} from '../value-or.js';

/** All that is wrong with a definition that a cluster shall run. */
export function checkDefinition(found: Found, path: string, definition: Json | undefined): void {
	const read = readDefinition(definition, path, resourceProblem);
	if (!read.ok) found.push(...read.problems);
}

function resourceProblem(resource: string): string | undefined {
	const read = parseTaskResource(resource);
	return read.ok ? undefined : read.message;
}

/** What a run begins with. */
export function checkRunInput(found: Found, path: string, input: Json): void {
	const problem = dataProblem(input);
	if (problem !== undefined) refuse(found, path, problem);
}

/** A run is what they come to, so the params of a time are what one may begin with. */
export function checkWorkflowTriggers(found: Found, path: string, value: Json | undefined): void {
	checkTriggers(found, path, value, {
		members: ['concurrencyPolicy'],
		check(at, {params}) {
			const input = parsedJson(textOf(params) ?? '');
			if (input !== undefined) checkRunInput(found, `${at}.params`, input as Json);
		},
	});
}

/** It is a label of its runs, too. What is wrong with it as a name of any object is said elsewhere. */
export function checkWorkflowName(found: Found, path: string, name: string): void {
	if (isDnsSubdomain(name) && !isLabelValue(name))
		refuse(found, path, `must have at most 63 characters, for it is a label of its runs, too, got ${shown(name)}`);
}
