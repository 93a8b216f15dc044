// Kinds as the API's paths name them, and what people mean by `pods,rs`, `KIND/NAME`, `KIND NAME NAME`.

import {apiRootOf, findKind, kinds, suggestKind} from '../../api/catalogue.js';
import type {KindDefinition} from '../../api/kind.js';
import {eventKind} from '../../server/http/event-kind.js';
import {usageError} from '../command.js';

/** What a path needs to know of a kind. */
export type Resource = Pick<KindDefinition, 'kind' | 'group' | 'version' | 'plural' | 'singular' | 'namespaced' | 'scalable'>;

/** Events are not in the catalogue: they are a view of what the control plane notes about objects. */
export const events: Resource = eventKind;

const eventWords = [eventKind.singular, eventKind.plural, ...eventKind.shortNames];

/** The resource a person means: plural, singular, short name or Kind, in any case. Throws ERR_USAGE with the nearest one there is. */
export function resourceOf(word: string): Resource {
	const found = findKind(word) ?? (eventWords.includes(word.toLowerCase()) ? events : undefined);
	if (found !== undefined) return found;
	if (word === '') throw usageError(`no kind is given; there are ${kindNames()}`);
	const near = suggestKind(word);
	const meant =
		near === undefined ? `; before a name comes its kind, such as "pod ${word}"; there are ${kindNames()}` : `; did you mean "${near}"?`;
	throw usageError(`unknown kind "${word}"${meant}`);
}

const kindNames = (): string => kinds.map(({plural}) => plural).join(', ');

/** `all`, or another category. */
function resourcesOf(word: string): readonly Resource[] {
	const category = kinds.filter(({categories = []}) => categories.includes(word.toLowerCase()));
	return category.length > 0 ? category : [resourceOf(word)];
}

/** Some objects of one kind; no names: all that the selectors leave. */
export type Target = {readonly resource: Resource; readonly names: readonly string[]};

/**
 * Reads the words after `get`, `describe`, `delete`, `scale`: `pods,rs`, `pods web-1 web-2`, `pod/web-1 rs/web`, `all`.
 * Throws ERR_USAGE for what makes no sense.
 */
export function readTargets(words: readonly string[]): readonly Target[] {
	const [first, ...names] = words;
	if (first === undefined) throw usageError(`no kind is given, such as pods or pod/NAME; there are ${kindNames()}`);
	if (words.some(word => word.includes('/'))) return words.map(readTarget);
	const resources = first.split(',').flatMap(resourcesOf);
	if (resources.length > 1 && names.length > 0)
		throw usageError(`"${first}" are several kinds; names go with one: KIND NAME, or KIND/NAME`);
	return resources.map(resource => ({resource, names}));
}

/** Reads one `KIND/NAME`. Throws ERR_USAGE. */
export function readTarget(word: string): Target {
	const [kind = '', name = '', ...more] = word.split('/');
	if (kind === '' || name === '' || more.length > 0) throw usageError(`"${word}" must be KIND/NAME, such as pod/web`);
	return {resource: resourceOf(kind), names: [name]};
}

/** Where the API serves a kind, or one object of it. An undefined namespace means all of them. */
export function pathOf(resource: Resource, namespace: string | undefined, name?: string, subresource?: string): string {
	const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
	const rest = [name, subresource].filter(part => part !== undefined).map(part => `/${segment(part)}`);
	return `${apiRootOf(resource)}${scope}/${resource.plural}${rest.join('')}`;
}

/** A path with dots for a segment is the path of something else, however they are written (WHATWG URL, 4.4). */
function segment(part: string): string {
	if (part === '' || part === '.' || part === '..') throw usageError(`"${part}" is no name`);
	return encodeURIComponent(part);
}

/** `pod`, `replicaset.apps`: as one object of it is called. */
export const qualifiedSingular = ({singular, group}: Resource): string => (group === '' ? singular : `${singular}.${group}`);

/** `pod/web`, `replicaset.apps/web`: as `-o name` and the answers of `apply` show it. */
export const displayName = (resource: Resource, name: string): string => `${qualifiedSingular(resource)}/${name}`;
