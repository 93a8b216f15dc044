// `troupe workflow list`: runs, of one workflow or of all.

import {run as runKind} from '../../api/kinds/run.js';
import {workflowLabel} from '../../api/workflow-label.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';
import {showObjects} from '../get/objects.js';
import type {Search} from '../get/search.js';
import {showTables} from '../get/table.js';
import {workflowNamed} from '../runs/named.js';
import {formOf} from './forms.js';

export async function list(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal} = invocation;
	const [word, ...more] = words;
	if (more.length > 0) throw usageError('list takes one workflow, or none, as in: troupe workflow list order');
	const workflow = word === undefined ? undefined : workflowNamed(word);
	const format = formOf(flags, ['wide', 'json', 'yaml', 'name']) ?? 'table';
	return withClient(invocation, client => {
		const search: Search = {
			targets: [{resource: runKind, names: []}],
			namespace: flags.on('all-namespaces') ? undefined : namespaceOf(invocation, client),
			labelSelector: workflow === undefined ? undefined : `${workflowLabel}=${workflow}`,
			fieldSelector: undefined,
			ignoreNotFound: false,
			format,
		};
		return format === 'table' || format === 'wide' ? showTables(client, search, terminal) : showObjects(client, search, format, terminal);
	});
}
