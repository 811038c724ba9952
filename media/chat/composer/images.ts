import type { ChatImage } from '../../../src/protocol/chat.ts';
import { isImage } from '../bridge/parse-parts.ts';
import { format, type Strings } from '../strings.ts';

/** The largest picture taken, in MB, and how many a message holds. */
const LARGEST_MB = 5;
const MOST = 10;

/** The pictures that were taken, and why others were not. */
export type TakenImages = {
  readonly images: readonly ChatImage[];
  readonly problems: readonly string[];
};

/** Reads pasted or dropped files as pictures; `already` counts those the message holds. */
export async function takeImages(
  files: readonly File[],
  already: number,
  strings: Strings,
): Promise<TakenImages> {
  const images: ChatImage[] = [];
  const problems: string[] = [];
  for (const file of files) {
    if (already + images.length >= MOST) {
      problems.push(format(strings.imageTooMany, MOST));
      break;
    }
    if (file.size > LARGEST_MB * 1024 * 1024) {
      problems.push(format(strings.imageTooLarge, file.name, LARGEST_MB));
      continue;
    }
    const image = await readImage(file);
    if (image === null) problems.push(format(strings.imageUnsupported, file.name));
    else images.push(image);
  }
  return { images, problems };
}

async function readImage(file: File): Promise<ChatImage | null> {
  const url = await new Promise<string>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => resolve('');
    reader.readAsDataURL(file);
  });
  const comma = url.indexOf(',');
  const image = { mimeType: file.type, data: url.slice(comma + 1), name: file.name };
  return comma > 0 && image.data !== '' && isImage(image) ? image : null;
}

/** The targets in a dropped list of URIs (`text/uri-list`: one a line, `#` begins a comment). */
export function urisOf(data: DataTransfer): readonly string[] {
  const list = data.getData('application/vnd.code.uri-list') || data.getData('text/uri-list');
  return list.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
}
