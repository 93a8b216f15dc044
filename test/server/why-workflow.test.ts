// Why no further run of a workflow begins.

import test from 'ava';
import {limits} from '../../api/limits.js';
import type {Evidence} from '../../server/why/finding.js';
import {workflowFinding} from '../../server/why/workflow.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {aWorkflow} from '../actors/_runs.js';

test('why of a workflow of which as many runs are under way as may', t => {
	class FullIndex extends ObjectIndex {
		override countByTerm(): number {
			return limits.workflowRunsUnderWay;
		}
	}
	const {state, is, because} = workflowFinding(aWorkflow(), {known: new FullIndex()} as unknown as Evidence);
	t.deepEqual([state, is, because], ['waits', 'starts no further run', '10000 runs of it are under way, as many as may']);
});
