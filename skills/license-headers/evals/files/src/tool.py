# SPDX-FileCopyrightText: 2024 Ada Lovelace
# SPDX-License-Identifier: Apache-2.0
print("hello")
