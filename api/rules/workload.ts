// Rules of what keeps pods of a template running: its selector finds those pods, and stays as it is.

import type {ApiObject, Draft} from '../object.js';
import {checkUnchanged} from './immutable.js';
import {membersOf, type Found} from './report.js';
import {checkSelector, checkSelects} from './selector.js';
import {checkTemplate, templateLabels} from './template.js';

export function checkWorkload(found: Found, draft: Draft, old: ApiObject | undefined, kind: string): void {
	const spec = membersOf(draft.spec);
	const selector = membersOf(spec['selector']);
	const template = membersOf(spec['template']);
	checkSelector(found, 'spec.selector', selector);
	checkTemplate(found, 'spec.template', template, {kind, policies: ['Always']});
	checkSelects(found, 'spec.template.metadata.labels', selector, templateLabels(template));
	if (old !== undefined) checkUnchanged(found, 'spec.selector', selector, membersOf(membersOf(old.spec)['selector']));
}
