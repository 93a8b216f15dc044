// Revisions stay as long as a run goes by them, whatever becomes of their workflow: a run that is a task of another one goes with that, and not with
// its workflow.

import type {Run} from '../../../api/kinds/run.js';
import {objectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Controller, Watched} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerRevisionController} from '../workloads/controller-revisions.js';
import {pinsTerm} from './run.js';

const {plural} = controllerRevisionController;

/** The controller of revisions, also of those of workflows. */
export const keptRevisionController: Controller = {
	...controllerRevisionController,
	watches: {runs: letGo},
	isRemovable: ({metadata}, known) => known.countByTerm('runs', pinsTerm(metadata.namespace, metadata.name)) === 0,
};

/** That of a run that is gone, if it waits for that. */
function letGo({before, after}: Watched, known: Known): Iterable<ApiObject> {
	const name = after === undefined ? (before as Run | undefined)?.status?.revisionName : undefined;
	const revision = name === undefined ? undefined : known.get(objectKey(plural, before?.metadata.namespace, name));
	return revision !== undefined && isDeleting(revision) ? [revision] : [];
}
