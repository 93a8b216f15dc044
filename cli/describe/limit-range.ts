// `describe limitrange`: a line for each type and resource, as kubectl has them. Pure.

import type {LimitRange} from '../../api/kinds/limitrange.js';
import type {WidthOf} from '../screen/table.js';
import {drawFields, drawSection, metadataFields} from './lines.js';

/** Everything but the events. */
export const describeLimitRange = (object: LimitRange, nowMs: number, widthOf: WidthOf): string =>
	drawFields(metadataFields(object, nowMs)) + drawSection('Limits', limitHead, limitRows(object), widthOf);

export const limitHead = ['TYPE', 'RESOURCE', 'MIN', 'MAX', 'DEFAULT REQUEST', 'DEFAULT LIMIT', 'MAX LIMIT/REQUEST RATIO'];

/** What it says of each resource of each type. */
export const limitRows = ({spec}: LimitRange): readonly (readonly string[])[] =>
	(spec?.limits ?? []).flatMap(({type, ...item}) => {
		const columns = [item.min, item.max, item.defaultRequest, item.default, item.maxLimitRequestRatio];
		const resources = [...new Set(columns.flatMap(column => Object.keys(column ?? {})))].sort();
		return resources.map(resource => [type, resource, ...columns.map(column => String(column?.[resource] ?? '-'))]);
	});
