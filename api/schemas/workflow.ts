// The schemas of Function and Workflow.

import Type, {type Static} from 'typebox';
import type {JsonObject} from '../object.js';
import {functionRuntimes, type FunctionSpec, type FunctionStatus} from '../shapes/function.js';
import {choiceOperators, typeOfOperator, type Choice, type WorkflowSpec, type WorkflowStatus} from '../shapes/workflow.js';
import {objectWith} from './metadata.js';
import {about, flag, mapOf, observed, oneOf, optional, record, someOf, text, type Same} from './parts.js';

const functionSpec = () =>
	record({
		userUploadFilePath: about('The folder with func.py (or func.js), on the host of whoever applies it.', text()),
		runtime: optional(about('python or nodejs; what the files say when left out.', oneOf(functionRuntimes))),
	});

export const functionStatus = () => record(observed());

export const functionSchema = () => objectWith(about('Where the code is.', functionSpec()));

const valueOf = (operator: string) => {
	const type = typeOfOperator(operator);
	if (type === 'number') return Type.Number();
	return type === 'string' ? text() : flag();
};

/** The operators are too many to be written out; the shape names them all. */
const choice = () =>
	Type.Unsafe<Choice>(
		record({
			variable: about('What is compared: a member of what the run knows.', text()),
			next: about('The node that follows where it holds.', text()),
			...Object.fromEntries(
				choiceOperators.map(operator => [operator, optional(about('The value it is compared to.', valueOf(operator)))]),
			),
		}),
	);

const workflowNode = () =>
	record({
		type: about('Task calls a function, Choice goes on by what the run knows.', oneOf(['Task', 'Choice'])),
		resource: optional(about('The function of a Task, NAME or NAMESPACE/NAME; named like the node when left out.', text())),
		next: optional(about('The node that follows a Task; the run ends when left out.', text())),
		choices: optional(about('Of a Choice: the first that holds is taken.', someOf(choice()))),
		default: optional(about('Of a Choice: the node that follows where none holds.', text())),
	});

const workflowSpec = () =>
	record({
		startAt: about('The first node.', text()),
		params: optional(about('What the run knows at its start.', Type.Unsafe<JsonObject>({type: 'object'}))),
		nodes: about('The nodes, by name.', mapOf(workflowNode())),
	});

export const workflowStatus = () => record(observed());

export const workflow = () => objectWith(about('A graph of functions and choices.', workflowSpec()));

export const functionSaysTheSame: Same<Static<ReturnType<typeof functionSpec>>, FunctionSpec> = true;
export const functionStatusSaysTheSame: Same<Static<ReturnType<typeof functionStatus>>, FunctionStatus> = true;
export const workflowSaysTheSame: Same<Static<ReturnType<typeof workflowSpec>>, WorkflowSpec> = true;
export const workflowStatusSaysTheSame: Same<Static<ReturnType<typeof workflowStatus>>, WorkflowStatus> = true;
