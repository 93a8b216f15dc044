// Base64 as Kubernetes takes it: the standard alphabet with its padding, line breaks between.

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const isBase64 = (text: string): boolean => base64.test(text.replace(/[\r\n]/g, ''));

/** How many bytes a base64 text stands for. */
export const base64Bytes = (text: string): number => {
	const digits = text.replace(/[\r\n=]/g, '').length;
	return Math.floor((digits * 3) / 4);
};

/** The base64 of a text's UTF-8. */
export const base64Of = (text: string): string => base64OfBytes(new TextEncoder().encode(text));

export function base64OfBytes(bytes: Uint8Array): string {
	let binary = '';
	for (let at = 0; at < bytes.length; at += portion) binary += String.fromCharCode(...bytes.subarray(at, at + portion));
	return btoa(binary);
}

/** Arguments of one call: the engine bounds them. */
const portion = 8_192;
