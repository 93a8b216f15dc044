// Workflows in the older form, a graph of nodes, become definitions. What is wrong with a graph is told by its own fields, as the file has them.

import {cleanJson} from '../clean-json.js';
import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {isTold, type Problem} from '../problem.js';
import {itemsOf, membersOf, type Found} from '../rules/report.js';
import {checkDefinition} from '../rules/workflow.js';
import {checkNodes} from '../rules/workflow-nodes.js';
import {schemaProblems} from '../schema-problems.js';
import {definitionOfNodes, type NodesSpec} from '../states-language/from-nodes.js';
import {writtenPath, type Edits, type Renamed} from './rewrite.js';

const members = ['startAt', 'nodes'] as const;

/** Which of them the spec of a workflow says first; undefined: none. */
const memberIn = ({spec}: JsonObject): string | undefined => members.find(member => (membersOf(spec)[member] ?? null) !== null);

export const isOfNodes = (document: JsonObject): boolean => memberIn(document) !== undefined;

/** The document with a definition in the place of its nodes; as it is where it has none. */
export function editWorkflowOfNodes(document: JsonObject, edits: Edits): JsonObject {
	const member = memberIn(document);
	// A problem of a node that could not be read is told already.
	if (member === undefined || edits.problems.length > 0) return document;
	const {startAt, nodes, ...rest} = membersOf(document['spec']);
	if (rest['definition'] !== undefined) {
		const message = 'stands beside definition, which says the same; leave one out';
		tell(edits, {path: `spec.${member}`, message, reason: 'FieldValueDuplicate'});
		return document;
	}
	const cleaned = cleanJson({startAt, nodes});
	const graph = membersOf(cleaned.value) as unknown as NodesSpec;
	const problems = [...cleaned.problems.map(belowSpec), ...problemsOf(graph)];
	const definition = problems.length === 0 ? definitionOfNodes(graph) : {};
	for (const problem of problems.length === 0 ? problemsOfDefinition(definition, graph) : problems) tell(edits, problem);
	edits.fields.push('spec.definition');
	edits.renamed.push({path: 'spec.definition', from: writtenPath('spec.nodes', edits.renamed)});
	return {...document, spec: {...rest, definition}};
}

const tell = (edits: Edits, problem: Problem): void =>
	void edits.problems.push({...problem, path: writtenPath(problem.path, edits.renamed)});

function problemsOf(graph: JsonObject): readonly Problem[] {
	const broken = schemaProblems('WorkflowNodes', graph).map(belowSpec);
	const found: Found = [];
	checkNodes(found, 'spec', graph);
	return [...broken, ...found.filter(problem => !isTold(problem, broken))].slice(0, limits.problemsShown);
}

const belowSpec = (problem: Problem): Problem => ({...problem, path: problem.path === '' ? 'spec' : `spec.${problem.path}`});

/** What a graph without a fault can still be: too much. */
function problemsOfDefinition(definition: JsonObject, {nodes}: NodesSpec): readonly Problem[] {
	const found: Found = [];
	checkDefinition(found, 'spec.definition', definition);
	if (found.length === 0) return found;
	const renamed: readonly Renamed[] = [
		{path: 'spec.definition', from: 'spec.nodes'},
		{path: 'spec.definition.States', from: 'spec.nodes'},
		...Object.entries(nodes).flatMap(([name, {choices}]): readonly Renamed[] => {
			const [state, node] = [joinPath('spec.definition.States', name), joinPath('spec.nodes', name)];
			return [
				{path: state, from: node},
				{path: `${state}.Resource`, from: `${node}.resource`},
				...itemsOf(choices).map((_, i) => ({path: `${state}.Choices[${i}].Variable`, from: `${node}.choices[${i}].variable`})),
			];
		}),
	];
	return found.map(problem => ({...problem, path: writtenPath(problem.path, renamed)}));
}
