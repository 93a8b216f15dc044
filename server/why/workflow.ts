// Whether a workflow can be run and its triggers see what they are for, and how its runs are.

import {underWayTerm} from '../../actors/control/workflows/run.js';
import {conditionOf} from '../../api/conditions.js';
import type {Run} from '../../api/kinds/run.js';
import type {Workflow} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {workflowLabel} from '../../api/workflow-label.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, listText, type Evidence, type Finding} from './finding.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';
import {deafFinding} from './triggers.js';

export function workflowFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const {metadata, spec, status} = object as Workflow;
	const {namespace = '', name} = metadata;
	const ready = conditionOf(status?.conditions, 'Ready');
	if (ready?.status === 'False' && ready.reason === 'FailedCreate') {
		const {message = ''} = ready;
		return finding(object, {
			state: 'wrong',
			is: 'cannot keep what it is made of, or start what it should',
			because: `what it makes is refused: ${refusalText(message)}`,
			below: refusalBelow(message, namespace, evidence),
			next: afterRefusal(message),
		});
	}
	if (status?.revisionName === undefined)
		return finding(object, {state: 'waits', is: 'has no revision yet', because: 'its definition is being kept'});
	const deaf = deafFinding(object, spec?.triggers);
	if (deaf !== undefined) return deaf;
	const underWay = evidence.known.countByTerm('runs', underWayTerm(namespace, name));
	if (underWay >= limits.workflowRunsUnderWay)
		return finding(object, {
			state: 'waits',
			is: 'starts no further run',
			because: `${underWay} runs of it are under way, as many as may`,
			next: {says: 'the next one can begin when one has ended'},
		});
	return fine(object, runsText(metadata, evidence));
}

function runsText({namespace = '', name}: Workflow['metadata'], {known}: Evidence): string {
	const counts = new Map<string, number>();
	for (const run of known.select('runs', namespace, {matchLabels: {[workflowLabel]: name}})) {
		const phase = (run as Run).status?.phase ?? 'Pending';
		counts.set(phase, (counts.get(phase) ?? 0) + 1);
	}
	const words = phases.flatMap(([phase, word]) => (counts.has(phase) ? [`${counts.get(phase) ?? 0} ${word}`] : []));
	const sum = [...counts.values()].reduce((all, count) => all + count, 0);
	return sum === 0
		? `it has no run; troupe workflow start ${name} makes one`
		: `of its ${counted(sum, 'run')} ${listText(words, phases.length)}`;
}

const phases: readonly (readonly [phase: string, word: string])[] = [
	['Pending', 'not begun'],
	['Running', 'under way'],
	['Suspended', 'suspended'],
	['Succeeded', 'succeeded'],
	['Failed', 'failed'],
	['Cancelled', 'cancelled'],
];
