// SPDX-License-Identifier: MIT
//
// Puts text on the clipboard, and says so.

const TOLD_MS = 2500;
let timer = 0;

// A page from a plain server has no clipboard of the newer kind.
function copyOld(text) {
  const area = document.createElement('textarea');
  const { activeElement } = document;

  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  activeElement?.focus();
  return isDone;
}

async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

// A word to the user, for a moment.
export function tell(text) {
  const toast = document.getElementById('toast');

  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { toast.hidden = true; }, TOLD_MS);
}

export async function copy(text, what) {
  if (await put(text)) {
    tell(`Copied ${what}`);
    return;
  }
  const dialog = document.getElementById('copy');
  const area = dialog.querySelector('textarea');
  area.value = text;
  dialog.showModal();
  area.select();
}
