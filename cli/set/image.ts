// `set image`: other images for containers by name. Pure.

import {usageError} from '../command.js';
import type {Assignments} from '../objects/assignments.js';
import type {ContainerChange} from './containers.js';

/** `web=nginx:2`, `*=nginx:2`: what names a container goes before what names all. Throws ERR_USAGE. */
export function imageChange(wanted: Assignments): ContainerChange {
	const images = new Map(Object.entries(wanted));
	if (images.size === 0)
		throw usageError('set which image? as in: troupe set image deployment/web web=nginx:2, or *=nginx:2 for all containers');
	for (const [name, image] of images)
		if (image === null || image === '') throw usageError(`the container ${name} needs an image: ${name}=IMAGE`);
	return {
		names: [...images.keys()],
		changed(container) {
			const image = images.get(container.name) ?? images.get('*') ?? null;
			return image === null || image === container['image'] ? container : {...container, image};
		},
	};
}
